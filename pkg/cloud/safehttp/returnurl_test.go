package safehttp_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
)

func TestOnlyListedPagesAreReturnedTo(t *testing.T) {
	list := []string{"https://app.example.com/social", "https://other.example.com", "http://127.0.0.1:3000/"}
	for address, want := range map[string]bool{
		"https://app.example.com/social": true, "https://app.example.com/social/": true,
		"https://app.example.com/social/done?x=1": true, "https://APP.example.com/social": true,
		"https://other.example.com": true, "https://other.example.com/any": true, "http://127.0.0.1:3000/back": true,

		"https://app.example.com/": false, "https://app.example.com/socialite": false,
		"https://app.example.com/social/../admin": false, "https://app.example.com/social/%2e%2e/admin": false,
		"https://app.example.com/social%2F..%2Fadmin": false,
		"http://app.example.com/social":               false, "https://app.example.com:444/social": false,
		"https://app.example.com.evil.test/social": false, "https://evil.test/https://app.example.com/social": false,
		"https://app.example.com@evil.test/social": false, "https://evil.test\\@app.example.com/social": false,
		"//app.example.com/social": false, "javascript:alert(1)": false, "/social": false, "": false,
		"https://app.example.com/social#x": false, "http://127.0.0.1:3001/": false, "http://example.com/": false,
		"https://app.example.com/ social": false,
	} {
		if got := safehttp.AllowsReturn(list, address); got != want {
			t.Errorf("%s is allowed: %v", address, got)
		}
	}
	if safehttp.AllowsReturn(nil, "https://app.example.com/social") {
		t.Error("an empty list allows something")
	}
}

func TestAListIsChecked(t *testing.T) {
	if err := safehttp.CheckReturn([]string{"https://app.example.com", "http://localhost:3000/x"},
		"/return_urls"); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"http://app.example.com", "https://app.example.com?x=1", "https://app.example.com#",
		"https://a:b@app.example.com", "app.example.com", "*", "https://",
		"https://app.example.com/" + strings.Repeat("x", 500)} {
		if err := errs.As(safehttp.CheckReturn([]string{"https://app.example.com", bad}, "/return_urls")); err == nil ||
			err.Param != "/return_urls/1" {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if err := errs.As(safehttp.CheckReturn(make([]string, safehttp.MaxListed+1), "/return_urls")); err == nil ||
		err.Param != "/return_urls" {
		t.Errorf("a long list: %v", err)
	}
}

func TestParametersAreAdded(t *testing.T) {
	got := safehttp.ReturnWith("https://app.example.com/social?tab=1&error=old",
		map[string]string{"error": "a&b", "social_account_id": "soc_1"})
	if got != "https://app.example.com/social?error=a%26b&social_account_id=soc_1&tab=1" {
		t.Errorf("got %s", got)
	}
	if got := safehttp.ReturnWith("javascript:alert(1)", nil); got != "" {
		t.Errorf("got %s", got)
	}
}
