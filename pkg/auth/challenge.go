package auth

import "strings"

// The codes of errors of RFC 6750, 3.1.
const (
	InvalidToken      = "invalid_token"
	InsufficientScope = "insufficient_scope"
)

// Challenge returns a value of the header WWW-Authenticate (RFC 6750, 3). The code is empty if the request had no
// credential. The metadata are the address of those of the resource (RFC 9728, 5.1), or empty where people do not sign
// in. The scopes are those that the request needs.
func Challenge(code, metadata string, scopes ...Scope) string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+`="`+value+`"`)
		}
	}
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	add("error", code)
	add("resource_metadata", metadata)
	add("scope", strings.Join(names, " "))
	if len(parts) == 0 {
		return "Bearer"
	}
	return "Bearer " + strings.Join(parts, ", ")
}

// ProgramScopes are the scopes that programs of others may ask for: all but that of the account itself.
func ProgramScopes() (all []Scope) {
	for _, s := range AllScopes() {
		if s != AccountManage {
			all = append(all, s)
		}
	}
	return all
}
