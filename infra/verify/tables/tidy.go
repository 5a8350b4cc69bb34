package main

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/content-automation/api/pkg/auth"
)

// tidier replaces values that differ between recordings, and values that must not be published, by fixed values of
// the same form.
type tidier struct {
	names map[string]string // ids by their replacements
	count map[string]int    // the number of ids of each prefix
}

func newTidier() *tidier { return &tidier{map[string]string{}, map[string]int{}} }

var (
	anID        = regexp.MustCompile(`\b([a-z]{3})_[0-7][0-9a-hjkmnp-tv-z]{25}`)
	aKey        = regexp.MustCompile(auth.Pattern)
	signingText = regexp.MustCompile(`whsec_[A-Za-z0-9+/]{43}=`)
)

// fixed are the fixed values of members and of parts of addresses.
var fixed = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`"request_id":"[^"]*"`), `"request_id":"1763812345678-6f9a4e7e-2f0b-4d3c-9b1e-0a5f1c7d8e21"`},
	{regexp.MustCompile(`"next_cursor":"[^"]*"`), `"next_cursor":"EXAMPLEcursorEXAMPLEcursorEXAMPLEcursorEXAMPLE"`},
	{regexp.MustCompile(`"prefix":"svc_(live|test)_\w{4}"`), `"prefix":"svc_${1}_EXAM"`},
	{regexp.MustCompile(`"last4":"\w{4}"`), `"last4":"MPLE"`},
	{regexp.MustCompile(`bench-media`), `acme-prod-media`},
	{regexp.MustCompile(`=bench\b`), `=EXAMPLE`},
	{regexp.MustCompile(`X-Amz-Signature=[0-9a-f]{64}`), `X-Amz-Signature=` + strings.Repeat("0", 64)},
	{regexp.MustCompile(`/auth/invitations#[\w-]{43}`), `/auth/invitations#` + strings.Repeat("EXAMPLE", 6) + "E"},
	{regexp.MustCompile(`(/integrations/hooks/int_\w{26}\.)[\w-]{43}`), `${1}` + strings.Repeat("EXAMPLE", 6) + "E"},
	{regexp.MustCompile(`/review/\w{26}\.[\w-]{43}`), `/review/01h455vb4pex5vsknk084sn02q.` +
		strings.Repeat("EXAMPLE", 6) + "E"},
	{regexp.MustCompile(`((?:[?&]|\\u0026)link=)[\w.~-]+`), `${1}` + strings.Repeat("EXAMPLE", 6) + "E"},
	{regexp.MustCompile(`\bscim_[\w-]{43}`), `scim_` + strings.Repeat("EXAMPLE", 6) + "E"},
	// A dossier has the ids of the recording, so that its hash and signature differ.
	{regexp.MustCompile(`"sha256":"[0-9a-f]{64}","signature":"([\w-]+)\.\.[\w-]+"`), `"sha256":"` +
		strings.Repeat("0", 64) + `","signature":"${1}..` + strings.Repeat("EXAMPLE", 12) + `EX"`},
	{regexp.MustCompile(`"webhook-request-id":"\d+-\w+"`), `"webhook-request-id":"1763812345678-` +
		strings.Repeat("EXAMPLE", 3) + `EXAMP"`},
	{regexp.MustCompile(`"webhook-signature":"v1,[\w+/]{43}="`), `"webhook-signature":"v1,` +
		strings.Repeat("EXAMPLE", 6) + `E="`},
	{regexp.MustCompile(`http://127\.0\.0\.1:9/`), `https://crm.example.com/`},
}

// json replaces the values of a document.
func (t *tidier) json(text string) json.RawMessage {
	text = anID.ReplaceAllStringFunc(text, t.id)
	// The example must fit the schema, but no scanner may report it as a leaked secret.
	text = aKey.ReplaceAllStringFunc(text, func(key string) string {
		return key[:len("svc_live_")] + strings.Repeat("EXAMPLE", 7)
	})
	text = signingText.ReplaceAllString(text, "whsec_"+strings.Repeat("EXAMPLE", 6)+"E=")
	for _, f := range fixed {
		text = f.from.ReplaceAllString(text, f.to)
	}
	return json.RawMessage(text)
}

// id returns the replacement of an id: always the same one, and the id of the reference for the first of a kind.
func (t *tidier) id(id string) string {
	name, known := t.names[id]
	if !known {
		const alphabet = "qrstvwxyz0123456789abcdefghjkmnp"
		prefix := id[:len("fac_")]
		name = prefix + "01h455vb4pex5vsknk084sn02" + string(alphabet[t.count[prefix]%len(alphabet)])
		t.names[id] = name
		t.count[prefix]++
	}
	return name
}
