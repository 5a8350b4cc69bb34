package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// member returns the name of the one member that the credential of each provider has.
// Providers without one use the function's own role.
func member() map[string]string {
	all := map[string]string{}
	for _, r := range provider.AllRows() {
		if r.Credential != "" {
			all[r.Name] = r.Credential
		}
	}
	return all
}

// ExampleCredentials is a document with a placeholder for each credential.
func ExampleCredentials() string {
	var parts []string
	for _, name := range CredentialProviders() {
		parts = append(parts, fmt.Sprintf(`%q: {%q: "…"}`, name, member()[name]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// CredentialProviders are the names of the providers that need a credential.
func CredentialProviders() []string { return slices.Sorted(maps.Keys(member())) }

// errUnreadable has no cause, because the unreadable text may be a credential.
var errUnreadable = errors.New(`the secret is not a JSON object of the form {"<provider>": {"<member>": "…"}}`)

// Document returns the value of a secret with credentials, by provider.
func Document(of map[string]string) (string, error) {
	members, document := member(), map[string]map[string]string{}
	for name, credential := range of {
		document[name] = map[string]string{members[name]: credential}
	}
	value, err := json.Marshal(document)
	if err != nil {
		return "", err
	}
	return string(value), CheckCredentials(string(value))
}

// ParseCredentials returns the credentials in a secret's value, by provider. It ignores invalid members, so that one
// mistake does not disable all providers.
func ParseCredentials(value string) (map[string]Secret, error) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal([]byte(value), &document); err != nil {
		return nil, errUnreadable
	}
	found := map[string]Secret{}
	for name, key := range member() {
		var members map[string]any
		if json.Unmarshal(document[name], &members) != nil {
			continue
		}
		if text, ok := members[key].(string); ok && strings.TrimSpace(text) != "" {
			found[name] = Secret{strings.TrimSpace(text)}
		}
	}
	return found, nil
}

// CheckCredentials refuses a value that is not exactly in the expected form, for the operator who is about to store it.
// Its errors do not reveal the credentials.
func CheckCredentials(value string) error {
	var document map[string]map[string]string
	if err := json.Unmarshal([]byte(value), &document); err != nil {
		return errUnreadable
	}
	if len(document) == 0 {
		return errors.New("the secret names no provider")
	}
	known := member()
	for name, members := range document {
		key, ok := known[name]
		switch {
		case !ok:
			return fmt.Errorf("%q is none of the providers that need a credential: %s", name,
				strings.Join(CredentialProviders(), ", "))
		case len(members) != 1 || members[key] == "":
			return fmt.Errorf("%s has the one member %q, and it is not empty", name, key)
		case members[key] != strings.TrimSpace(members[key]):
			return fmt.Errorf("the %s of %s has white space around it", key, name)
		}
	}
	return nil
}
