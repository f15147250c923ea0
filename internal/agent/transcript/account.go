package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// isAccount reports whether a member names the account of the person.
func isAccount(name string) bool {
	plain := strings.Map(func(c rune) rune {
		switch {
		case c == '_' || c == '-':
			return -1
		case 'A' <= c && c <= 'Z':
			return c + 'a' - 'A'
		}
		return c
	}, name)
	return len(plain) <= len("ownerorganizationuuid") && (strings.HasSuffix(plain, "email") ||
		slices.Contains([]string{"emailaddress", "accountuuid", "accountid", "owneraccountuuid",
			"owneraccountid", "organizationuuid", "organizationid", "ownerorganizationuuid",
			"ownerorganizationid", "orgid", "orguuid", "credentialorg", "organizationname",
			"username", "userid"}, plain))
}

// PassedAccount is what Stats counts the members as that name the account of the person.
const PassedAccount = "member with the user's account"

// CountAccount counts the members of a record that name the account of the person.
func (s *Stats) CountAccount(record json.RawMessage) {
	if !mayNameAccount(record) {
		return
	}
	var said []string
	dropAccount(record, &said)
	s.PassN(PassedAccount, len(said))
}

// mayNameAccount reports whether a value is to be looked through for members of isAccount: whether
// some colon in it follows such a name.
func mayNameAccount(value []byte) bool {
	for at := 0; ; at++ {
		next := bytes.IndexByte(value[at:], ':')
		if next < 0 {
			return false
		}
		at += next
		end := at
		for end > 0 && strings.IndexByte(" \n\t\r", value[end-1]) >= 0 {
			end--
		}
		if end < 2 || value[end-1] != '"' || !endsAccount(value[end-2]) {
			continue
		}
		name := value[max(0, end-1-longAccount) : end-1]
		name = name[bytes.LastIndexByte(name, '"')+1:]
		if bytes.IndexByte(name, '\\') >= 0 || isAccount(string(name)) {
			return true
		}
	}
}

// longAccount is more than the length of a name of isAccount with an escape for each letter.
const longAccount = 192

// endsAccount reports whether a name of isAccount can end with a letter, or with an escape for one.
func endsAccount(c byte) bool {
	return strings.IndexByte("lsgLSG_-0123456789abcdefABCDEF", c) >= 0
}

// isTold reports whether a member has what was given to a tool, or what a tool or a person told:
// there an address is a word like others.
func isTold(name string) bool {
	return slices.Contains([]string{"args", "arguments", "content", "input", "output", "parameters",
		"result", "text", "toolUseResult"}, name)
}

// WithoutAccount returns a value without members that name the account of the person, and without
// what these members say anywhere else in it.
func WithoutAccount(value json.RawMessage) json.RawMessage {
	if !mayNameAccount(value) {
		return value
	}
	var said []string
	out := dropAccount(value, &said)
	if len(said) == 0 {
		return value
	}
	clean, err := jsonvalue.Rewrite(out, func(scalar []byte) ([]byte, error) {
		s, ok := jsonvalue.Text(scalar)
		if !ok {
			return scalar, nil
		}
		whole := s
		for _, name := range said {
			if len(name) >= 6 {
				s = strings.ReplaceAll(s, name, "[account]")
			}
		}
		if s == whole {
			return scalar, nil
		}
		return jsonvalue.Encode(s), nil
	})
	if err != nil {
		return out
	}
	return clean
}

// dropAccount returns a value without members that name the account, and adds what they said.
func dropAccount(value json.RawMessage, said *[]string) json.RawMessage {
	if list, err := jsonvalue.ElementsWithin(value); err == nil {
		for i := range list {
			list[i] = dropAccount(list[i], said)
		}
		return jsonvalue.Array(list)
	}
	o := jsonvalue.AsObject(value)
	if o == nil {
		return value
	}
	o = o.Without()
	for name, member := range o {
		switch {
		case isAccount(name):
			s, _ := jsonvalue.Text(member)
			*said = append(*said, s)
			delete(o, name)
			continue
		case isTold(name):
			continue
		}
		o[name] = dropAccount(member, said)
	}
	return jsonvalue.Encode(o)
}
