package secrets

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gemini-ctx/ctx/internal/sanitize/tokens"
)

// rule identifies a rule, which is tried at its triggers.
type rule uint8

const (
	pemRule rule = iota
	jwtRule
	encodedJWTRule
	dsnRule
	urlRule
	pairRule
	flagRule
	pgpassRule
	headerRule
	cookieRule
	sqlRule
	vaultRule
	passRule
	netrcRule
	puttyRule
	manifestRule
	documentRule
	signatureRule
	wordRule
	columnRule
	stdinRule
	secureRule
	thinRule
	resultRule
	encodedRule
	bodyRule
	sendRule
	boxRule
	crumbRule
	authRule
	fieldRule
	nearPasswordRule
	tellRule
	slashRule
	userRule
	tokenRule
	accountRule
	shownRule
	wideRule
	jarRule
	keyedRule
	nearTokenRule
	numRules // the number of rules
)

// trigger is a text of at least three bytes at which a rule is tried.
type trigger struct {
	text string
	rule rule
}

// triggers lists the texts at which rules are tried. Single bytes are in scan.byteAt.
var triggers = [...]trigger{
	{"BEGIN ", pemRule},
	{"eyJ", jwtRule},
	{"ZXlK", encodedJWTRule},
	{"@tcp(", dsnRule}, {"@unix(", dsnRule},
	{"://", urlRule},
	{"Bearer", headerRule}, {"bearer", headerRule}, {"BEARER", headerRule}, {"Basic",
		headerRule}, {"basic", headerRule},
	{"BASIC", headerRule}, {"Token", headerRule}, {"token", headerRule},
	{"ookie: ", cookieRule}, {"OOKIE: ", cookieRule},
	{"PASSWORD ", sqlRule}, {"password ", sqlRule}, {"BY ", sqlRule}, {"by ", sqlRule},
	{"vault login ", vaultRule}, {"operator unseal ", vaultRule},
	{"pass:", passRule},
	{"login ", netrcRule},
	{"Private-Lines: ", puttyRule},
	{"kind: ", manifestRule}, {`"kind"`, documentRule},
	{"sig=", signatureRule}, {"Signature=", signatureRule}, {"X-Amz-Signature=", signatureRule},
	{"X-Goog-Signature=", signatureRule},
	{"MIIEvQIBADANBgkq", bodyRule}, {"MIIEvAIBADANBgkq", bodyRule}, // PKCS #8 of 2048 bits
	{"MIIEvgIBADANBgkq", bodyRule}, {"MIIJQgIBADANBgkq", bodyRule}, // of 4096 bits
	{"MIIJQwIBADANBgkq", bodyRule}, {"MIIEpAIBAAKCAQEA", bodyRule}, // PKCS #1
	{"MIIEowIBAAKCAQEA", bodyRule}, {"MIIEogIBAAKCAQEA", bodyRule},
	{"MIIJKQIBAAKCAgEA", bodyRule}, {"MIIJKAIBAAKCAgEA", bodyRule},
	{"MIIJJwIBAAKCAgEA", bodyRule}, {"MHcCAQEEI", bodyRule}, // P-256
	{"MIGHAgEAMBMGByqGSM49", bodyRule}, {"MC4CAQAwBQYDK2Vw", bodyRule}, // Ed25519
	{"b3BlbnNzaC1rZXktdjEA", bodyRule}, // OpenSSH
	{"NetworkCredential(", accountRule}, {"PasswordCredentials(", accountRule},
	{"PasswordAuthentication(", accountRule}, {"BasicAuth(", accountRule},
	{"basicAuth(", accountRule}, {"basic_auth(", accountRule}, {"auth=(", accountRule},
	{"auth = (", accountRule}, {"login(", accountRule}, {"send ", sendRule},
	{"password", wordRule}, {"Password", wordRule}, {"PASSWORD", wordRule},
	{"passwd", wordRule}, {"Passwd", wordRule}, {"PASSWD", wordRule},
	{"passphrase", wordRule}, {"Passphrase", wordRule}, {"PASSPHRASE", wordRule},
	{"pass", wordRule}, {"Pass", wordRule}, {"PASS", wordRule}, {"pwd", wordRule},
	{"Pwd", wordRule}, {"PWD", wordRule}, {"secret", wordRule}, {"Secret", wordRule},
	{"SECRET", wordRule}, {"token", wordRule}, {"Token", wordRule}, {"TOKEN", wordRule},
	{"key", wordRule}, {"Key", wordRule}, {"KEY", wordRule}, {"access", wordRule},
	{"Access", wordRule}, {"ACCESS", wordRule}, {"private", wordRule}, {"Private", wordRule},
	{"PRIVATE", wordRule}, {"--password-stdin", stdinRule}, {"--with-token", stdinRule},
	{"--passphrase-fd", stdinRule}, {"docker secret create ", stdinRule},
	{"gh secret set ", stdinRule}, {"wrangler secret put ", stdinRule},
	{"secrets create ", stdinRule}, {"vercel env add ", stdinRule}, {"sudo -S", stdinRule},
	{"chpasswd", stdinRule}, {"passwd ", stdinRule}, {"--password-prompt", stdinRule}, {"passwd --stdin", stdinRule}, {"smbpasswd -s", stdinRule},
	{"cryptsetup ", stdinRule}, {" su ", stdinRule}, {"kinit ", stdinRule},
	{"│", boxRule}, {"┃", boxRule}, {" -b ", crumbRule}, {"--cookie ", crumbRule},
	{"asswort", tellRule}, {"ennwort", tellRule}, {"mot de passe", tellRule},
	{"ontraseña", tellRule}, {"senha", tellRule}, {"Senha", tellRule},
	{"parola", tellRule}, {"Parola", tellRule}, {"wachtwoord", tellRule},
	{"ösenord", tellRule}, {"adgangskode", tellRule}, {"salasana", tellRule},
	{"hasło", tellRule}, {"Hasło", tellRule}, {"heslo", tellRule},
	{"jelszó", tellRule}, {"şifre", tellRule}, {"Şifre", tellRule},
	{"ароль", tellRule}, {"密码", tellRule}, {"密碼", tellRule}, {"口令", tellRule},
	{"パスワード", tellRule}, {"비밀번호", tellRule}, {"mật khẩu", tellRule},
	{"chlüssel", tokenRule}, {"clé", tokenRule}, {"jeton", tokenRule}, {"clave", tellRule},
	{"ключ", tokenRule}, {"Ключ", tokenRule}, {"окен", tokenRule}, {"キー", tokenRule},
	{"トークン", tokenRule}, {"密钥", tokenRule}, {"密鑰", tokenRule}, {"令牌", tokenRule}, {"토큰", tokenRule},
	{"ugangsdaten", tellRule}, {"dentifiants", tellRule}, {"redenciales", tellRule},
	{"Key Content ", tellRule}, {"：", wideRule},
	{"log in ", tellRule}, {"login with ", tellRule}, {" pw ", tellRule}, {"sername", userRule}, {"USER ", userRule}, {"user: ", userRule}, {"ogin: ", userRule},
	{"enutzer", userRule}, {"suario", userRule}, {"огин", userRule}, {" / ", slashRule},
	{"\n$ ", shownRule},
	{"getConnection(", accountRule}, {"new PDO(", accountRule}, {"mysqli_connect(", accountRule},
	{"mysql_connect(", accountRule}, {"DBI->connect(", accountRule}, {"WiFi.begin(", accountRule},
	{"FALSE\t", jarRule}, {"TRUE\t", jarRule},
	{"createHmac(", keyedRule}, {"hmac.new(", keyedRule},
	{"jwt.sign(", keyedRule}, {"jwt.verify(", keyedRule}, {"jwt.encode(", keyedRule},
	{"jwt.decode(", keyedRule}, {"redentials", tellRule}, {"creds", tellRule},
	{".auth(", accountRule},
	{"AUTH ", authRule}, {"PASS ", authRule}, {"LOGIN ", authRule}, {"IDENTIFY ", authRule},
	{"masterauth", wordRule}, {"bindpw", wordRule}, {"rootpw", wordRule}, {"psk", wordRule},
	{"form-data; name=", fieldRule},
	{"SecureString ", secureRule}, {":thin:", thinRule},
	{"random_password", resultRule}, {"LS0tLS1CRUdJTiB", encodedRule},
	{"TFMwdExTMUNS", encodedRule}, {"eyJ", encodedRule}, {"ZXlK", encodedRule},
}

// table finds the rules and forms that may begin with three bytes: a hash of the bytes leads to a
// chain of nodes.
type table struct {
	heads  [1 << hashBits]uint16 // by hash: the first node, or 0
	nodes  []node                // index 0 is unused
	forms  []tokens.Form         // those of package tokens, then the user's
	before []uint8               // by form: number of bytes of the token before its anchor
}

// node is a trigger, the text of a command, or the anchor of a form.
type node struct {
	tokens.Beginning
	next uint16
	id   uint16 // index of a trigger, then of a command, then of a form
}

// firstForm is the id of the first form.
const firstForm = len(triggers) + len(commands)

// hash3 hashes the first three bytes of a text, which are the lower bytes of word.
func hash3(word uint32) uint32 { return word << 8 * 0x9E3779B1 >> (32 - hashBits) }

const hashBits = 14

// own is the table without the user's patterns. makeOwn makes it when the first text is searched. A
// sync.OnceValue would be made at the start of every program.
var (
	own     *table
	makeOwn sync.Once
)

// used is the table with the user's patterns, or nil.
var used atomic.Pointer[table]

func currentTable() *table {
	if t := used.Load(); t != nil {
		return t
	}
	makeOwn.Do(func() { own = makeTable(nil) })
	return own
}

// UsePatterns is sanitize.UsePatterns.
func UsePatterns(patterns []string) error {
	if len(patterns) == 0 {
		used.Store(nil)
		return nil
	}
	extra := make([]tokens.Form, len(patterns))
	for i, p := range patterns {
		if err := tokens.Check(p); err != nil {
			return fmt.Errorf("pattern %q: %w", p, err)
		}
		extra[i] = tokens.Form{Class: "extra", Pattern: p, Sure: true}
	}
	used.Store(makeTable(extra))
	return nil
}

func makeTable(extra []tokens.Form) *table {
	t := &table{nodes: make([]node, 1, 2048),
		forms: append(tokens.Table(), extra...)}
	for i := range triggers {
		t.add(tokens.BeginningOf(triggers[i].text), i)
	}
	for i := range commands {
		t.add(tokens.BeginningOf(commands[i].text), len(triggers)+i)
	}
	t.before = make([]uint8, len(t.forms))
	for i := range t.forms {
		before := t.forms[i].EachBeginning(func(b tokens.Beginning) { t.add(b, firstForm+i) })
		t.before[i] = uint8(before)
	}
	return t
}

func (t *table) add(b tokens.Beginning, id int) {
	h := hash3(b.Word)
	t.nodes = append(t.nodes, node{b, t.heads[h], uint16(id)})
	t.heads[h] = uint16(len(t.nodes) - 1)
}
