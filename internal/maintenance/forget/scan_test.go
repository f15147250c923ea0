package forget

import (
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// TestFindSecretsInSummaries holds that the sentences of a summary are read each by itself, and the
// texts of a message as one: what stands at the end of one sentence is not said together with the
// next one.
func TestFindSecretsInSummaries(t *testing.T) {
	sentences := []byte(
		`[{"seq":1,"text":"660→properties[\"password\"] = userPassword"},{"seq":2,"text":"659→// 1"}]`)
	if found, err := findSecrets(format.MediaExtract, sentences); err != nil || len(found) != 0 {
		t.Errorf("in a summary: %v %v", found, err)
	}
	pieces := []byte(`[{"text":"use ghp_a8Kq0Zs7Lw2Xr4Vt"},{"text":"9Bn6Cm1Dj3Fh5Gk8PqRs now"}]`)
	if found, err := findSecrets(format.MediaParts, pieces); err != nil || len(found) != 2 {
		t.Errorf("in the pieces of a message: %v %v", found, err)
	}
	secret := []byte(`[{"seq":1,"text":"DB_PASSWORD=Xk29-vnQ8ppZ3wLt"}]`)
	if found, err := findSecrets(format.MediaExtract, secret); err != nil || len(found) != 1 {
		t.Errorf("a secret in a sentence: %v %v", found, err)
	}
}
