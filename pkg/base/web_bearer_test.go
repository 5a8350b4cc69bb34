package base_test

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/web"
)

func TestATokenIsFoundByItsHash(t *testing.T) {
	token, hash, err := web.NewBearer(bytes.NewReader(make([]byte, 32)))
	if err != nil || token != strings.Repeat("A", 43) ||
		hash != "0f007385b6f9d4b7eeb2748605afe1a984a0a3bfa3f014d09e2a784ce9e5cd1a" {
		t.Errorf("%s, %s, %v", token, hash, err)
	}
	if !web.MatchesBearer(token, hash) || web.MatchesBearer(token+"A", hash) || web.MatchesBearer(token, "") ||
		web.MatchesBearer("",
			"") ||
		web.MatchesBearer(token, hash[:63]) {
		t.Error("another token matches the hash, or the token does not")
	}
	other, otherHash, err := web.NewBearer(rand.Reader)
	if err != nil || other == token || len(other) != 43 || otherHash != web.HashBearer(other) || otherHash == hash {
		t.Errorf("%s, %s, %v", other, otherHash, err)
	}
}

func TestNoTokenIsMadeWithoutRandomness(t *testing.T) {
	if token, hash, err := web.NewBearer(bytes.NewReader(make([]byte, 31))); err == nil || token != "" || hash != "" {
		t.Errorf("%s, %s, %v", token, hash, err)
	}
}
