package mcp

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/tenant"
)

// Texts that people do not see as they are reach no agent.
func TestHiddenCharactersReachNoAgent(t *testing.T) {
	text, failed := use(t, func(*http.Request, string) (int, string) {
		return 200, ok("[{\"id\":\"fac_1\",\"name\":\"Acme\U000e0041\u202eevil\"}]")
	}, newKey(t, tenant.Test), "list_factories", object{})
	if failed || !strings.Contains(text, "Acmeevil") {
		t.Errorf("%+q", text)
	}
}
