package secrets

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gemini-ctx/ctx/internal/sanitize/tokens"
)

// rule identifies a rule that reads far, and notes how far in scan.past.
type rule uint8

const (
	eachRule rule = iota // one that looks at each of its triggers
	pemRule
	jwtRule
	encodedJWTRule
	urlRule
	cookieRule
	netrcRule
	puttyRule
	signatureRule
	bodyRule
	encodedRule
	pairRule
	flagRule
	pgpassRule
	columnRule
	jarRule
	nearPasswordRule
	nearTokenRule
	numRules // the number of rules
)

// trigger is a text of at least three bytes at which a rule is tried, with what reads s.b[i:end],
// the text.
type trigger struct {
	text string
	rule rule
	read func(s *scan, i, end int)
}

// eachTrigger yields the triggers. Single bytes are in scan.byteAt.
func eachTrigger(add func(trigger)) {
	for _, line := range [...]struct {
		rule  rule
		read  func(s *scan, i, end int)
		texts string // with bars between
	}{
		{pemRule, (*scan).pemAt, "BEGIN "},
		{jwtRule, (*scan).jwtAt, "eyJ"},
		{encodedJWTRule, (*scan).encodedJWTAt, "ZXlK"},
		{eachRule, (*scan).dsnAt, "@tcp(|@unix("},
		{urlRule, (*scan).urlAt, "://"},
		{eachRule, (*scan).headerAt, "Bearer|bearer|BEARER|Basic|basic|BASIC|Token|token"},
		{cookieRule, (*scan).cookieAt, `ookie: |OOKIE: |ookie = |ookie","value":` +
			`|ookie", "value": `},
		{eachRule, (*scan).sqlAt, "PASSWORD |password |BY |by "},
		{netrcRule, (*scan).netrcAt, "login "},
		{puttyRule, (*scan).puttyAt, "Private-Lines: "},
		{eachRule, (*scan).manifestAt, "kind: "},
		{eachRule, (*scan).documentAt, `"kind"`},
		{signatureRule, (*scan).signatureAt, "sig=|Signature=|X-Amz-Signature=|X-Goog-Signature="},
		// private keys in PKCS #8 of 2048 and 4096 bits, in PKCS #1, of P-256 and Ed25519, of OpenSSH
		{bodyRule, (*scan).bodyAt, "MIIEvQIBADANBgkq|MIIEvAIBADANBgkq|MIIEvgIBADANBgkq" +
			"|MIIJQgIBADANBgkq|MIIJQwIBADANBgkq|MIIEpAIBAAKCAQEA|MIIEowIBAAKCAQEA" +
			"|MIIEogIBAAKCAQEA|MIIJKQIBAAKCAgEA|MIIJKAIBAAKCAgEA|MIIJJwIBAAKCAgEA|MHcCAQEEI" +
			"|MIGHAgEAMBMGByqGSM49|MC4CAQAwBQYDK2Vw|b3BlbnNzaC1rZXktdjEA"},
		{eachRule, (*scan).accountAt, "NetworkCredential(|PasswordCredentials(" +
			"|PasswordAuthentication(|BasicAuth(|basicAuth(|basic_auth(|auth=(|auth = (|login(" +
			"|getConnection(|new PDO(|mysqli_connect(|mysql_connect(|DBI->connect(|WiFi.begin(" +
			"|.auth(|:auth(|>auth("},
		{eachRule, (*scan).sendAt, "send |.send(|sendline("},
		{eachRule, (*scan).insertAt, "INSERT INTO |insert into "},
		{eachRule, (*scan).wordAt, "password|Password|PASSWORD|passwd|Passwd|PASSWD|passphrase" +
			"|Passphrase|PASSPHRASE|pass|Pass|PASS|pwd|Pwd|PWD|secret|Secret|SECRET|token|Token" +
			"|TOKEN|key|Key|KEY|access|Access|ACCESS|private|Private|PRIVATE|SALT|masterauth" +
			"|bindpw|rootpw|psk|secret_id|SecretID"},
		{eachRule, (*scan).stdinAt, "--password-stdin|--with-token|--passphrase-fd" +
			"|docker secret create |gh secret set |wrangler secret put |secrets create " +
			"|vercel env add |sudo -S|chpasswd|passwd |--password-prompt|passwd --stdin" +
			"|smbpasswd -s|cryptsetup | su |kinit "},
		{eachRule, (*scan).rowAt, "│|┃|║"},
		{eachRule, (*scan).crumbsAt, " -b |--cookie "},
		{eachRule, func(s *scan, i, end int) {
			s.nearAt(i, i+len(bytes.TrimRight(s.b[i:end], " ")), strongKey)
		}, "asswort|ennwort|ot de passe|ontraseña|senha|Senha|parola|Parola|wachtwoord|ösenord" +
			"|adgangskode|salasana|hasło|Hasło|heslo|jelszó|şifre|Şifre|ароль|密码|密碼|口令|パスワード|비밀번호" +
			"|mật khẩu|Mật khẩu|clave|Clave|Wachtwoord|Adgangskode|Salasana|Heslo|Jelszó|ugangsdaten|dentifiants|redenciales|Key Content |log in |login with " +
			"|login as | pw |(pw |redentials|creds"},
		{eachRule, func(s *scan, i, end int) { s.nearAt(i, end, weakKey) }, "chlüssel|clé|jeton" +
			"|ключ|Ключ|окен|キー|トークン|密钥|密鑰|令牌|토큰"},
		{eachRule, (*scan).wideAt, "："},
		{eachRule, func(s *scan, i, end int) { s.nearAt(i, end, userKey) }, "sername|USER |user: " +
			"|ogin: |enutzer|suario|огин"},
		{eachRule, (*scan).slashAt, " / "},
		{eachRule, (*scan).shownAt, "\n$ "},
		{eachRule, (*scan).evaluatedAt, ">>> |In [|irb(|iex(|php > |(gdb) |(Pdb) "},
		{eachRule, func(s *scan, _, _ int) { s.seen.entities = true }, "&quot;|&#34;|&#39;|&lt;"},
		{eachRule, (*scan).jarAt, "FALSE\t|TRUE\t"},
		{eachRule, (*scan).keyedAt, "createHmac(|hmac.new(|jwt.sign(|jwt.verify(|jwt.encode(" +
			"|jwt.decode(|hashSync(|compareSync(|pbkdf2_hmac(|pbkdf2Sync(|scryptSync(|hashpw(" +
			"|password_hash(|password_verify(|Fernet(|AESGCM(|AES.new(|SecretBox(|createCipheriv(" +
			"|createDecipheriv("},
		{eachRule, (*scan).authAt, "AUTH |PASS |LOGIN |IDENTIFY "},
		{eachRule, (*scan).fieldAt, "form-data; name="},
		{eachRule, (*scan).wordsAt, "nemonic|NEMONIC|eed phrase|eed words|ecovery phrase|ecret phrase"},
		{eachRule, (*scan).codesAt, "ackup code|ackup Code|ackup_code|ACKUP_CODE|ackupCode" +
			"|ecovery code|ecovery Code|ecovery_code|ECOVERY_CODE|ecoveryCode|cratch code" +
			"|TOTP |OTP |otp |2FA |MFA |uthenticator "},
		{eachRule, (*scan).resultAt, "random_password"},
		{encodedRule, (*scan).encodedAt, "LS0tLS1CRUdJTiB|TFMwdExTMUNS|eyJ|ZXlK"},
	} {
		for text := range strings.SplitSeq(line.texts, "|") {
			add(trigger{text, line.rule, line.read})
		}
	}
}

// table finds the rules and forms that may begin with three bytes: a hash of the bytes leads to a
// chain of nodes.
type table struct {
	heads     [1 << hashBits]uint16 // by hash: the first node, or 0
	nodes     []node                // index 0 is unused
	forms     []tokens.Form         // those of package tokens, then the user's
	before    []uint8               // by form: number of bytes of the token before its anchor
	triggers  []trigger             // their ids come first
	commands  []command
	firstForm int // the id of the first form
}

// node is a trigger, the text of a command, or the anchor of a form.
type node struct {
	tokens.Beginning
	next uint16
	id   uint16 // index of a trigger, then of a command, then of a form
}

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
	eachTrigger(func(tr trigger) {
		t.add(tokens.BeginningOf(tr.text), len(t.triggers))
		t.triggers = append(t.triggers, tr)
	})
	t.commands = commandsIn(commandLines)
	for i, c := range t.commands {
		t.add(tokens.BeginningOf(c.text), len(t.triggers)+i)
	}
	t.firstForm = len(t.triggers) + len(t.commands)
	t.before = make([]uint8, len(t.forms))
	for i := range t.forms {
		before := t.forms[i].EachBeginning(func(b tokens.Beginning) { t.add(b, t.firstForm+i) })
		t.before[i] = uint8(before)
	}
	return t
}

func (t *table) add(b tokens.Beginning, id int) {
	h := hash3(b.Word)
	t.nodes = append(t.nodes, node{b, t.heads[h], uint16(id)})
	t.heads[h] = uint16(len(t.nodes) - 1)
}
