package search

import (
	"strings"
	"testing"
)

// Forms of a word have one stem, and other words have others.
func TestStems(t *testing.T) {
	for _, forms := range []string{
		"διακομιστής διακομιστή διακομιστές διακομιστών", "βάση βάσης βάσεις βάσεων",
		"δεδομένα δεδομένων", "σφάλμα σφάλματα σφαλμάτων σφάλματος",
		"שרת השרת בשרת לשרת והשרת שרתים בשרתים", "נתון נתונים הנתונים מהנתונים",
		"לוג לוגים הלוגים", "בדיקה הבדיקה",
		"بيانات البيانات والبيانات بالبيانات للبيانات", "مكتبة المكتبة والمكتبة مكتبات المكتبات",
		"خادم الخادم للخادم", "مُسْتَخْدِم المستخدم المستخدمين مستخدمون", "إعدادات الإعدادات اعدادات",
		"وصول الوصول والوصول",
		"сервер сервера серверов", "развёртывание развертывания",
	} {
		want := ""
		for _, form := range strings.Fields(forms) {
			got := otherStem(strings.ToLower(Fold(form)))
			if want == "" {
				want = got
			}
			if got == "" || got != want {
				t.Errorf("%s: %q, and %q of the first form", form, got, want)
			}
		}
	}
	for _, pair := range [][2]string{{"βάση", "βάρος"}, {"שרת", "שרה"}, {"נתון", "נתיב"},
		{"ملف", "ملك"}, {"مكتبة", "مكتوب"}} {
		if otherStem(Fold(pair[0])) == otherStem(Fold(pair[1])) {
			t.Errorf("%v have one stem", pair)
		}
	}
}
