package console

import (
	"testing"

	"github.com/content-automation/api/pkg/auth/session"
)

// A host is in ASCII, and is shown so. Names are of one script, and those of known programs are theirs.
func TestB8NothingLooksLikeAnother(t *testing.T) {
	for _, address := range []string{"https://\u0430pple.com/cb", "https://%D0%B0pple.com/cb", "https://apple.com\u3002evil.example/",
		"https://\uff41pple.com/", "https://appl\u00e9.com/", "https://xn--a/cb", "https://xn--.com/cb", "https://a_b.example/",
		"https://-a.example/", "https://apple.com\u200b/", "https://a.example/\u0430", "https://127.1/", "https://0x7f.0.0.1/",
		"https://a..example/"} {
		if redirectable(address) {
			t.Errorf("%q may get codes", address)
		}
	}
	for address, shown := range map[string]string{
		"https://xn--pple-43d.com/cb": "xn--pple-43d.com", "https://Claude.AI:8443/cb": "claude.ai:8443",
		"https://a.example/cb?x=1": "a.example", "http://127.0.0.1:4000/cb": "this computer",
		"cursor://anysphere/cb": "cursor:", "https://xn--e1afmkfd.xn--p1ai/": "xn--e1afmkfd.xn--p1ai",
	} {
		if w := (wish{Redirect: address}); !redirectable(address) || w.Host() != shown {
			t.Errorf("%s may get codes: %v, and is shown as %s", address, redirectable(address), w.Host())
		}
	}
	// One that was registered before hosts were checked is shown in ASCII, and gets no code.
	old := session.Program{Redirects: []string{"https://\u0430pple.com/cb"}}
	if w := (wish{Redirect: old.Redirects[0]}); w.Host() != "xn--pple-43d.com" || redirects(old, old.Redirects[0]) {
		t.Errorf("an earlier one is shown as %s", w.Host())
	}
	for name, one := range map[string]bool{"Claude": true, "Cl\u0430ude": false, "\u0421\u043b\u043e\u043d": true, "Acme \u03b1": false,
		"\u30a2\u30d7\u30ea App": true, "My app 2": true, "\U0001d402laude": false, "\uff23laude": false, "Caf\u00e9": true,
		"Acme \u0411\u043e\u0442": false} {
		if oneScript(name) != one {
			t.Errorf("%s is of one script: %v", name, !one)
		}
	}
	for _, c := range []struct {
		name, address string
		own           bool
	}{
		{"Claude", "https://claude.ai/api/mcp/auth_callback", true}, {"Claude", "https://evil.example/cb", false},
		{"claude", "https://claude.ai.evil.example/", false}, {"C l a u d e", "https://evil.example/", false},
		{"Claude Desktop", "https://evil.example/", false}, {"CIaude", "https://evil.example/", false},
		{"\u0421\u04cf\u0430\u0446\u0501\u0435", "https://evil.example/", false}, {"Claude", "http://127.0.0.1:1/cb", true},
		{"0penAI", "https://evil.example/", false}, {"ChatGPT", "https://chatgpt.com/cb", true}, {"Cursor", "cursor://x/cb", true},
		{"Cl\u00e1ude", "https://evil.example/", false}, {"Claude\u0332", "https://evil.example/", false},
		{"\u216dlaude", "https://evil.example/", false}, {"\u24d2laude", "https://evil.example/", false},
		{"Claud\u212e", "https://evil.example/", false}, {"Cl@ude", "https://evil.example/", false},
		{"ClaudeDesktop", "https://evil.example/", false}, {"ClaudeAI", "https://evil.example/", false},
		{"claudeai", "https://evil.example/", false}, {"Clau\u00adde", "https://evil.example/", false},
		{"Precursor", "https://a.example/", true}, {"Claudette", "https://a.example/", true},
	} {
		if ownsName(c.name, []string{c.address}) != c.own {
			t.Errorf("%s may return to %s: %v", c.name, c.address, !c.own)
		}
	}
}
