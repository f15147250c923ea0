package transcript

import (
	"encoding/json"
	"testing"
)

// Each name of an account is found in the spellings that JSON has, and what it says is left out
// wherever it stands; words like it stay.
func TestAccountNames(t *testing.T) {
	for _, name := range []string{"email", "userEmail", "user_email", "EMAIL", "emailAddress",
		"accountUuid", "account-id", "ACCOUNT_ID", "ownerAccountUuid", "organization_uuid",
		"OrganizationId", "ownerOrganizationUuid", "owner_organization_id", "orgId", "org_uuid",
		"ORG_ID", "credential_org", "organizationName", "username", "userName", "user_name",
		"USER_NAME", `email\u0041ddress`, "e-mail", "userId", "userID", "user_id", "user-id", "userid",
		"ownerEmail", "login_email"} {
		record := json.RawMessage(`{"kind":"x","at":{"` + name + `":"mia@quay","note":"by mia@quay"}}`)
		got := string(WithoutAccount(record))
		if want := `{"at":{"note":"by [account]"},"kind":"x"}`; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		stats := Stats{Passed: map[string]int{}}
		stats.CountAccount(record)
		if stats.Passed[PassedAccount] != 1 {
			t.Errorf("%s: counted %d times", name, stats.Passed[PassedAccount])
		}
	}
	for _, name := range []string{"userType", "emails", "accounts", "organism", "userIdentity",
		"ownerOrganizationUuidOf", "", "_"} {
		record := json.RawMessage(`{"` + name + `":"mia@quay"}`)
		if got := string(WithoutAccount(record)); got != string(record) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
