package search_test

import (
	"testing"

	"github.com/gemini-ctx/ctx/internal/search"
)

// TestForms checks that words of other languages are found in the forms that their texts have, and
// that English is left alone: there no word is found in a form that is none of English.
func TestForms(t *testing.T) {
	for _, c := range []struct{ query, text, want string }{
		{"Datenbanken", "Die Datenbank ist langsam und der Server auch.", "Datenbank"},
		{"Fehlern", "Der Fehler tritt nur im Hafen auf.", "Fehler"},
		{"die Prüfungen", "Weil der Port fehlt, schlug eine Prüfung fehl.", "Prüfung"},
		{"chevaux", "Le cheval mange dans le pré.", "cheval"},
		{"journal", "Il faut lire les journaux du serveur.", "journaux"},
		{"cheval", "Les chevaux mangent.", "chevaux"},
		{"ecoles", "Cette école est dans le port.", "école"},
		{"ejecutar", "Se ejecuta cada noche en el servidor, sin que falle.", "ejecuta"},
		{"configurações", "A configuração do servidor não está certa.", "configuração"},
		{"configurazioni", "La configurazione del server non è giusta.", "configurazione"},
		{"fouten", "De fout komt elke nacht terug op de server met een melding.", "fout"},
		{"sunucuların", "Sunucu her gece yeniden başlıyor.", "Sunucu"},
		{"servrarna", "Det är en av serverna som inte startar, och det syns.", ""},
		{"hamnarna", "Det är hamnar som inte syns, och det är allt.", "hamnar"},
		{"palvelimet", "Se on palvelimessa, ja se ei käynnisty kun pitäisi.", "palvelimessa"},
		{"Fehlern Kräne", "Der Fehler ist im Kran, und das ist neu.", "Fehler"},
		{"Fehlern Schiffe", "Der Fehler ist im Kran, und das ist neu.", ""},
		{"posters", "The post of the day is on the port.", ""},
		{"tester", "We win if the test is on.", ""},
		{"der", "Der Fehler ist im Kran, und das ist neu.", ""},
		{"", "Der Fehler ist im Kran.", ""},
	} {
		got := ""
		if at := search.FormsOf(c.query).FindStringIndex(c.text); at != nil {
			got = c.text[at[0]:at[1]]
		}
		if got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.query, c.text, got, c.want)
		}
	}
}
