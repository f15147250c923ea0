package prose

import "testing"

func TestIsRule(t *testing.T) {
	for line, want := range map[string]bool{
		"Never change the files of the vendor directory.":                           true,
		"Bring it to life; in lamp/oil.go never use the old pump":                   true,
		"In `lamp/oil.go`, never use the old pump.":                                 true,
		"Bitte ändere lamp/oil.go nie ohne den Test dazu.":                          true,
		"lamp/oil.go 里不要用正则表达式":                                                     true,
		"lamp/oil.goでは正規表現を使わないでください":                                               true,
		"Dans lamp/oil.go, n'utilise jamais de regex":                               true,
		"in lamp/oil.go the pump was never used":                                    false,
		"lamp/oil.go never ran; the pump is old":                                    false,
		"The pump is mended; never mind the noise":                                  false,
		"always ask me before you push, and keep the old flag names":                true,
		"ask me before you push anything":                                           true,
		"Please don\u2019t touch the relay, Bram is working in it this week.":       true,
		"Then add the index, but only build it if the table is small enough.":       true,
		"Oostrand has 9 million rows and must not block at start-up.":               true,
		"We don't want if-else call site logic if we can help it":                   true,
		"Use the page of the store, not the database.":                              true,
		"no, 0 is a real level in the basin of Oostrand":                            true,
		"From now on, commit after each step of the plan.":                          true,
		"You may push to the branch of the review without asking.":                  true,
		"Leave the encoder of the gauge alone, that's on purpose.":                  true,
		"A record says its own version, so go by that, not by the header.":          true,
		"When you change a file of the vendor, always ask me first.":                true,
		"how to use bitmaps here <- do that, but only if there is no local disk":    true,
		"no, I did not ask for a release":                                           true,
		"drop the column of the tide gauges completely, nobody reads it":            true,
		"commit the steps, and run the checks after each of them, after every one":  true,
		"Fix it in vat.py only, please, and run the tests.":                         true,
		"fix it in the parser, and keep the tests as they are":                      true,
		"The old flag names must stay.":                                             true,
		"this happens: [6 lines of a stack trace: ValueError: never call it twice]": false,
		"From now on use tabs.":                                                     true,
		"Going forward, tabs only.":                                                 true,
		"From now on do that.":                                                      false,
		"Before editing on the server always make a backup first.":                  true,
		"before the release the port was always free on the server":                 false,
		"Before any deploy to the harbour, ask me.":                                 true,
		"Every commit message has to start with the ticket number.":                 true,
		"every build of the relay was broken by the new compiler":                   false,
		"I want you to keep the answers short.":                                     true,
		"I want you to keep going with the parser of the gauges":                    false,
		"I want you to look at the parser of the gauges":                            false,
		"Make sure that each handler has a test before you go on":                   true,
		"Do not make changes.":                                                      true,
		"let's not rename the gauges in this branch.":                               true,
		"make sure that the slow tests are run only when I ask":                     true,
		"pull the main branch..make sure there's nothing on this one":               false,
		"no they see the page of the demo alone":                                    true,
		"No new dependencies in the parser of the gauges.":                          true,
		"No proxy on the loopback address.":                                         false,
		"Add a retry to fetch.py and never use the requests library":                true,
		"we don't use lodash here":                                                  true,
		"no emojis in commit messages":                                              true,
		"commit messages in English only":                                           true,
		"Remember: all money values are integers in cents":                          true,
		"no errors in the last run":                                                 false,
		"no change in the tests that I see":                                         false,
		"I and only I can see this page":                                            false,
		"Do not kill it, they get cross.":                                           false,
		"no just commit and push":                                                   false,
		"Please do not build the next flaky test on the same day":                   false,
		"commit only the add version command for now":                               false,
		"I've only recently started seeing this happen in persistent worktrees":     false,
		"can you review the change in this branch, but don't change the tree":       false,
		"no wait, so this branch adds the agent to the logging of hooks":            false,
		"why don't you just clone the repository instead":                           false,
		"check we have good test coverage so we don't break things as well":         false,
		"That treats missing content as a match, so it can be linked even when so":  false,
		"Let's turn this into a list, so that we are not throwing out things":       false,
		"annotate the list, and keep going, do meaningful commits in the meantime":  false,
		"5k finished but I want to try 10k rows of the journal too":                 false,
		"Return findings only, ordered by severity, with file references.":          false,
		"I wish every build of the parser were always so quick":                     false,
		"leave out anything that they cannot see.":                                  false,
		"I told you not to edit the lock file of the gauges":                        true,
		"the page of the gauges says: never use this flag":                          false,
		"I get: Error: you must always pass the force flag":                         false,
		"don't do it?": false, "teach that to the checker": false, "Raise the limit to 64 MB.": false,
	} {
		if IsRule(line) != want {
			t.Errorf("IsRule(%q) = %t", line, !want)
		}
	}
}

func TestLifts(t *testing.T) {
	for line, want := range map[string]bool{
		"Ignore the rule about writing tests first.":                 true,
		"Drop the German, answer in English.":                        true,
		"It is fine to touch the schema of the gauges now.":          true,
		"You no longer need to ask before you push.":                 true,
		"You may push to main now, forget what I said.":              true,
		"You can commit without asking me from now on.":              true,
		"Never mind the rule about the vendor directory, push away.": true,
		"Forget what I said about yarn.":                             true,
		"OK, the schema may be changed now.":                         true,
		"The file may be large.":                                     false,
		"Du darfst npm jetzt doch verwenden.":                        true,
		"Tu peux maintenant modifier la config.":                     true,
		"Теперь можно трогать схему.":                                true,
		"现在可以直接改数据库了。":                                               true,
		"Kannst du die Spalte löschen?":                              false,
		"Can you drop the column of the tides?":                      false,
		"Never push to main.":                                        false,
		"Look at what I said about the gauges.":                      false,
	} {
		if Lifts(line) != want {
			t.Errorf("Lifts(%q) = %t", line, !want)
		}
	}
}

// TestRulesOfTongues has orders for good in other languages, and what only has their words.
func TestRulesOfTongues(t *testing.T) {
	for line, want := range map[string]bool{
		"Bitte nie direkt auf main pushen.":             true,
		"Verwende immer pnpm statt npm.":                true,
		"Ab jetzt immer erst die Tests.":                true,
		"Das hat nie funktioniert.":                     false,
		"À partir de maintenant, ne touche plus à gen.": true,
		"A partir de agora, nunca rode os testes.":      true,
		"Bundan sonra main dalına push yapma.":          true,
		"以后不要直接修改数据库。":                                  true,
		"每次提交前都要运行测试。":                                  true,
		"以后都用制表符缩进。":                                    true, "改代码之前一定要先问我。": true, "从现在开始用中文写注释": true,
		"之前的测试都过了":       false,
		"今後はタブを使ってください。": true, "これからは英語で書いてください": true, "これから作業します": false,
		"앞으로는 탭을 사용해 주세요.": true, "Отныне используй табы.": true,
		"Перед каждым деплоем спрашивай меня.": true, "Перед каждым запуском тест падает": false,
		"Vor jedem Deploy bitte mich fragen.":                true,
		"Bevor du Code änderst, immer erst den Plan zeigen.": true,
		"Vor jedem Start hängt der Server":                   false,
		"Bevor du anfängst: der Server läuft auf Port 80":    false,
		"Avant de modifier le code, demande-moi toujours.":   true,
		"Avant de partir il a fait un commit":                false,
		"Antes de cambiar código, pregúntame siempre.":       true,
		"Antes de alterar o código, sempre me pergunte.":     true,
		"Prima di cambiare il codice, chiedimi.":             true,
		"以后再说。":                                              false,
		"每次都失败。":                                             false,
		"Ich nehme immer pnpm.":                              false,
		"Es ist immer noch rot.":                             false,
		"Immer wenn ich pushe, hängt es.":                    false,
		"Bitte nie mehr so, aber heute nur die Kräne.":       false,
		"Warum nie auf main?":                                false,
		"Ne modifie jamais les fichiers du dossier gen.":     true,
		"N'utilise pas de bibliothèque externe.":             true,
		"Utilise toujours pnpm.":                             true,
		"C'est toujours rouge.":                              false,
		"Nunca borres los datos de prueba.":                  true,
		"Usa siempre pnpm.":                                  true,
		"Está siempre rojo.":                                 false,
		"Non toccare mai le migrazioni.":                     true,
		"Non funziona.":                                      false,
		"Никогда не трогай миграции без моего согласия.": true,
		"Используй всегда pnpm.":                         true,
		"Это всегда падает.":                             false,
		"テストは絶対にスキップしないでください。":                           true,
		"コミット前に必ず確認してください。":                              true,
		"テストが必ず落ちる。":                                     false,
		"永远不要改动 vendor 目录。":                              true,
		"不要改动迁移文件。":                                      true,
		"别的文件呢":                                          false,
		"这次不要跑测试。":                                       false,
		"main에 직접 푸시하지 마세요.":                             true,
		"커밋 전에 항상 테스트를 실행해주세요.":                          true,
		"No hagas commits sin preguntarme.":              true,
		"No hay pruebas.":                                false,
		"Pousse les commits sans me demander.":           true,
		"Не трогай схему.":                               true,
		"테스트가 항상 실패해요.":                                  false,
	} {
		if IsRule(line) != want {
			t.Errorf("IsRule(%q) = %t", line, !want)
		}
	}
}

// TestDoubts has words of users that something is not so, and of models that they are right.
func TestDoubts(t *testing.T) {
	for line, want := range map[string]bool{"no, take 2.0": true, "Nein, nimm 2.0": true,
		"Falsche Preise anzeigen": false, "Das stimmt nicht.": true, "Non, pas encore.": true,
		"sigue fallando": true, "不对，是代理": true, "不是所有的灯": false, "まだ失敗します": true,
		"Now the docs": false, "Jetzt die Doku": false} {
		if Doubts(line) != want {
			t.Errorf("Doubts(%q) = %t", line, !want)
		}
	}
	for line, want := range map[string]bool{"You're right, it was the proxy.": true,
		"Du hast recht, es war der Proxy.": true, "Tienes razón.": true, "你说得对，是代理。": true,
		"おっしゃる通りです。": true, "Der Proxy hat das Recht dazu.": false} {
		if Concedes(line) != want {
			t.Errorf("Concedes(%q) = %t", line, !want)
		}
	}
}
