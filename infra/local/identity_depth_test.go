package main_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/local/identity"
)

func TestDeepDocumentsAreRefusedBeforeTheyAreParsed(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat("<a>", depth) + strings.Repeat("</a>", depth) }
	for name, c := range map[string]struct {
		document string
		want     error
	}{
		"an answer":        {nested(50), nil},
		"a deep one":       {nested(51), identity.ErrDeep},
		"100,000 deep":     {nested(100_000), identity.ErrDeep},
		"a wide one":       {"<a>" + strings.Repeat("<b/>", 50_000) + "</a>", identity.ErrDeep},
		"an open one":      {strings.Repeat("<a>", 100_000), identity.ErrDeep},
		"with a namespace": {`<p:a xmlns:p="urn:x"><p:b>text</p:b></p:a>`, nil},
	} {
		err := identity.ShallowAnswer(base64.StdEncoding.EncodeToString([]byte(c.document)))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for _, bad := range []string{"%%%", base64.StdEncoding.EncodeToString([]byte("<a"))} {
		if identity.ShallowAnswer(bad) == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
