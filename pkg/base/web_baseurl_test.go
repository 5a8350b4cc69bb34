package base_test

import (
	"testing"

	"github.com/content-automation/api/pkg/base/web"
)

func TestOf(t *testing.T) {
	for host, want := range map[string]string{
		"api.acme.example": "https://api.acme.example",
		"a1b2c3.execute-api.eu-central-1.amazonaws.com": "https://a1b2c3.execute-api.eu-central-1.amazonaws.com/prod",
		"localhost:8080": "http://localhost:8080",
		"127.0.0.1:9000": "http://127.0.0.1:9000",
		"":               "",
	} {
		if got := web.BaseURL(host, "prod"); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}
