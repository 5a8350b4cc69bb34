package main

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/api"
)

// TestMain keeps the log out of the tests' output.
func TestMain(m *testing.M) {
	quiet()
	m.Run()
}

func TestWhatDiffersIsTidied(t *testing.T) {
	key, err := auth.NewKey(tenant.Live, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	one, other, item := id.New(id.Factory, time.Now()), id.New(id.Factory, time.Now()),
		id.New(id.ContentItem, time.Now())
	text := `{"ids":["` + one + `","` + other + `","` + one + `","` + item + `_1_1"],"secret":"` + key +
		`","request_id":"` + rand.Text() + `","next_cursor":"AbC-1"}`
	want := `{"ids":["fac_01h455vb4pex5vsknk084sn02q","fac_01h455vb4pex5vsknk084sn02r","fac_01h455vb4pex5vsknk084sn02q","cnt_01h455vb4pex5vsknk084sn02q_1_1"],` +
		`"secret":"svc_live_` + strings.Repeat("EXAMPLE", 7) +
		`","request_id":"1763812345678-6f9a4e7e-2f0b-4d3c-9b1e-0a5f1c7d8e21","next_cursor":"EXAMPLEcursorEXAMPLEcursorEXAMPLEcursorEXAMPLE"}`
	if got := string(newTidier().json(text)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// No example has a secret that works, whatever its form.
func TestSecretsAreTidied(t *testing.T) {
	const example = "EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEE"
	secret, suffix := strings.Repeat("aB3-_x", 8)[:43], strings.Repeat("7", 25)
	for name, c := range map[string]struct{ text, want string }{
		"invitation": {"https://api.example.com/auth/invitations#" + secret,
			"https://api.example.com/auth/invitations#" + example},
		"review link": {"https://api.example.com/review/0" + suffix + "." + secret,
			"https://api.example.com/review/01h455vb4pex5vsknk084sn02q." + example},
		"hook": {"https://api.example.com/v1/integrations/hooks/int_0" + suffix + "." + secret,
			"https://api.example.com/v1/integrations/hooks/int_01h455vb4pex5vsknk084sn02q." + example},
		"signing secret": {"whsec_" + strings.Repeat("aB3+/x", 8)[:43] + "=", "whsec_" + example[:42] + "E="},
		"signature": {"https://files.example.com/a.png?X-Amz-Signature=" + strings.Repeat("0a", 32) + "&x=1",
			"https://files.example.com/a.png?X-Amz-Signature=" + strings.Repeat("0", 64) + "&x=1"},
		"link": {"https://api.example.com/v1/social-accounts/callback?link=" + secret + ".x&x=1",
			"https://api.example.com/v1/social-accounts/callback?link=" + example + "&x=1"},
		"link after another parameter": {`https://api.example.com/callback?x=1\u0026link=` + secret,
			`https://api.example.com/callback?x=1\u0026link=` + example},
		"directory": {"scim_" + secret, "scim_" + example},
	} {
		if got := string(newTidier().json(`{"value":"` + c.text + `"}`)); got != `{"value":"`+c.want+`"}` {
			t.Errorf("%s: got  %s\nwant %s", name, got, c.want)
		}
	}
}

// TestARecordingIsTheSameEachTime records an operation twice.
func TestARecordingIsTheSameEachTime(t *testing.T) {
	storetest.UseMemory()
	routes := api.Routes()
	at := slices.IndexFunc(routes, func(r httpapi.Route) bool { return r.OperationID == "rotateApiKey" })
	first, err := recordOperation(t.Context(), routes[at])
	if err != nil {
		t.Fatal(err)
	}
	second, err := recordOperation(t.Context(), routes[at])
	if err != nil {
		t.Fatal(err)
	}
	if string(first.Response) != string(second.Response) || string(first.Request) != string(second.Request) {
		t.Errorf("first %s, then %s", first.Response, second.Response)
	}
}

func TestACallThatIsRefusedIsNoExample(t *testing.T) {
	storetest.UseMemory()
	routes := api.Routes()
	at := slices.IndexFunc(routes, func(r httpapi.Route) bool { return r.OperationID == "listPlans" })
	routes[at].Status = http.StatusCreated
	if _, err := recordOperation(t.Context(), routes[at]); err == nil ||
		!strings.Contains(err.Error(), "answered with 200") {
		t.Errorf("got %v", err)
	}
}
