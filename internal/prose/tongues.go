package prose

import (
	"slices"
	"strings"
)

// This file has the forms of orders for good in other languages than English: a few of each that
// are hardly ever anything else. Where an order and a report have one form, none stands here.

var (
	// tongueOpeners come before an order and say nothing of their own.
	tongueOpeners = [...]string{"bitte ", "und ", "aber ", "s'il te plaît, ", "s'il vous plaît, ",
		"por favor, ", "por favor ", "per favore ", "alsjeblieft ", "пожалуйста, ", "и ", "请", "請",
		"麻烦", "그리고 "}
	// tongueLeads begin an order for good.
	tongueLeads = [...]string{"nie ", "niemals ", "immer ", "ab jetzt", "ab sofort",
		"auf keinen fall ", "nooit ", "altijd ", "vanaf nu", "aldrig ", "alltid ", "altid ", "ne ",
		"n'", "jamais ", "toujours ", "désormais ", "à partir de maintenant", "nunca ", "jamás ",
		"siempre ", "a partir de ahora", "de ahora en adelante", "sempre ", "a partir de agora",
		"d'ora in poi", "nigdy nie ", "zawsze ", "od teraz", "asla ", "никогда не ", "всегда ",
		"no hagas ", "no uses ", "no toques ", "no cambies ", "no borres ", "no modifiques ",
		"no subas ", "non usare ", "non toccare ", "non modificare ", "não faça ", "não use ",
		"não mexa ", "não altere ", "не пушь ", "не трогай ", "не меняй ", "не используй ",
		"не удаляй ", "впредь ", "с этого момента", "bundan sonra ", "永远", "永遠", "千万", "千萬",
		"务必", "務必", "必须", "必須", "禁止", "始终", "一律", "总是", "總是", "不要", "别", "別", "勿",
		"отныне ", "以后都", "以後都", "今后都", "今後都", "从现在开始", "從現在開始", "从现在起", "從現在起",
		"从今以后", "從今以後"}
	// tongueNever are such leads that begin no order.
	tongueNever = [...]string{"immer wenn ", "immer noch ", "nie wieder gesehen", "toujours le même",
		"toujours la même", "siempre que ", "sempre que ", "всегда был", "别的", "別的", "别人",
		"別人", "不要紧", "不要緊", "n'est", "n'ai", "n'a "}
	// tongueSeconds come behind the verb of an order: "verwende immer pnpm".
	tongueSeconds = [...]string{"nie", "niemals", "immer", "nooit", "altijd", "aldrig", "alltid",
		"toujours", "siempre", "nunca", "sempre", "mai", "всегда", "никогда", "zawsze", "nigdy"}
	// tongueSubjects are no verbs of orders, and what stands before them says what is or was.
	tongueSubjects = [...]string{"ich", "du", "er", "es", "sie", "wir", "ihr", "das", "die", "der",
		"was", "ist", "war", "hat", "habe", "haben", "wird", "sind", "noch", "ik", "hij", "het",
		"is", "je", "tu", "il", "elle", "on", "nous", "vous", "ils", "c'est", "ça", "est", "yo",
		"él", "ella", "eso", "está", "era", "no", "casi", "quase", "ele", "ela", "isso", "está",
		"io", "lui", "lei", "è", "quasi", "non", "это", "он", "она", "они", "я", "мы", "как",
		"почти", "to", "jest"}
	// tongueBans stand in an order that forbids, anywhere.
	tongueBans = [...]string{"ohne zu fragen", "ohne rückfrage", "sans demander", "sans me demander",
		"sin preguntar", "senza chiedere", "sem perguntar", "без спроса",
		"しないで", "ないでください", "てはいけ", "ではいけ", "てはならない",
		"絶対に禁止", "绝对不", "絕對不", "永远不", "永遠不", "千万不", "千萬不", "不允许", "不准", "严禁", "嚴禁",
		"하지 마", "하지 말", "지 마세요", "지 말아", "하면 안 돼", "하면 안 됩니다",
		"之前一定要", "之前必须", "之前必須", "之前先问我", "之前先問我"}
	// tongueDuties stand in an order that allows no exception, if it has one of tongueAsks, too.
	tongueDuties = [...]string{"必ず", "絶対", "常に", "항상", "반드시", "절대", "以后", "以後", "今后", "每次",
		"每个", "每個", "asla ", "今後は", "これからは", "앞으로", "이제부터", "vor jedem ", "vor jeder ",
		"bevor du ", "avant de ", "avant chaque ", "antes de ", "prima di ", "перед каждым ", "перед каждой ",
		"прежде чем "}
	tongueAsks = [...]string{"ください", "下さい", "こと", "せよ", "しろ", "하세요", "해주세요",
		"해 주세요", "해줘", "해라", "합니다", "으세요", "마세요", "不要", "不能", "别",
		"請", "请", "都要", "都必须", "都必須", "yapma", "etme", "kullanma", "dokunma",
		"frag mich", "mich fragen", "immer erst", "immer zuerst", "demande-moi", "demandez-moi",
		"pregúntame", "consúltame", "avísame", "me pergunte", "pergunte-me", "me avise", "chiedimi",
		"спрашивай", "спроси меня"}
	// tongueOccasions name the one occasion that an order is for.
	tongueOccasions = [...]string{" heute", " diesmal", " morgen", "aujourd'hui", "cette fois",
		" hoy", "esta vez", " oggi", "сегодня", "в этот раз", "今回", "今日", "这次", "這次", "今天",
		"이번에", "오늘"}
)

// tongueLifts are in what takes back an order for good, or allows what one forbids.
var tongueLifts = [...]string{"du darfst ", "du kannst ", "ihr dürft ", "sie dürfen ",
	"nicht mehr nötig", "musst nicht mehr", "vergiss die regel", "vergiss, was ich", "tu peux ",
	"vous pouvez ", "plus besoin de ", "oublie la règle", "oublie ce que j", "ya puedes ",
	"puedes ", "ya no hace falta", "olvida la regla", "olvida lo que", "puoi ", "non serve più",
	"dimentica ", "agora pode", "pode agora", "não precisa mais", "esquece ", "esqueça ", "je mag ",
	"hoeft niet meer", "możesz ", "nie musisz już", "теперь можно", "можешь ", "можно снова",
	"больше не нужно", "забудь ", "现在可以", "現在可以", "可以了", "不用再", "不必再", "忘掉", "てもいい", "ても大丈夫",
	"てもよい", "なくていい", "해도 돼", "해도 됩니다", "해도 괜찮", "안 해도"}

// isRuleElsewhere reports whether a sentence in lower case is an order for good in another language
// than English.
func isRuleElsewhere(lower string) bool {
	if HasAny(lower, tongueOccasions[:]) || strings.ContainsAny(lower, "?？") {
		return false
	}
	for _, o := range tongueOpeners {
		lower = strings.TrimPrefix(lower, o)
	}
	if HasLead(lower, tongueNever[:]) {
		return false
	}
	if HasLead(lower, tongueLeads[:]) || HasAny(lower, tongueBans[:]) ||
		HasAny(lower, tongueDuties[:]) && HasAny(lower, tongueAsks[:]) ||
		strings.HasPrefix(lower, "non ") && strings.Contains(lower, " mai ") {
		return true
	}
	words := strings.Fields(lower)
	if len(words) > 3 && strings.ContainsAny(words[1], "./") { // ändere lamp.go nie
		words = slices.Delete(words, 1, 2)
	}
	return len(words) > 2 && slices.Contains(tongueSeconds[:], words[1]) &&
		!slices.Contains(tongueSubjects[:], words[0])
}

// tongueDoubts are in words of a user that what the model found is not so, tongueDoubtLeads begin
// them, and tongueConcessions are in words of a model that the user is right.
var (
	tongueDoubtLeads = [...]string{"nein, ", "falsch,", "falsch.", "sicher?", "bist du sicher", "non, ",
		"tu es sûr", "es-tu sûr", "estás segur", "sei sicuro", "não, ", "tem certeza", "нет, ",
		"неверно", "ты уверен", "不对", "不對", "不是这", "不是那", "不是，", "错了", "錯了", "你确定", "你確定", "确定吗", "違う", "違います",
		"いや、", "いいえ", "本当ですか", "아니", "틀렸"}
	tongueDoubts = [...]string{"stimmt nicht", "funktioniert nicht", "klappt nicht", "geht nicht",
		"ne marche pas", "ne fonctionne pas", "c'est faux", "no funciona", "sigue fallando",
		"non funziona", "não funciona", "не работает", "还是不行", "還是不行", "不管用", "まだ失敗", "動きません",
		"動かない", "작동하지 않", "안 돼요"}
	tongueConcessions = [...]string{"du hast recht", "sie haben recht", "mein fehler", "ich lag falsch",
		"ich habe mich geirrt", "tu as raison", "vous avez raison", "je me suis trompé", "tienes razón",
		"tiene razón", "me equivoqué", "hai ragione", "mi sono sbagliat", "você tem razão",
		"me enganei", "ты прав", "вы правы", "я ошиб", "你说得对", "您说得对", "你說得對", "你是对的", "我错了",
		"我弄错了", "おっしゃる通り", "おっしゃるとおり", "ご指摘の通り", "私の間違い", "間違っていました",
		"맞습니다", "제가 틀렸", "제 실수"}
)
