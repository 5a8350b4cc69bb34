package identity

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

func TestDeepDocumentsAreRefusedBeforeTheyAreParsed(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat("<a>", depth) + strings.Repeat("</a>", depth) }
	for name, c := range map[string]struct {
		document string
		want     error
	}{
		"an answer":        {nested(maxDepth), nil},
		"a deep one":       {nested(maxDepth + 1), errDeep},
		"100,000 deep":     {nested(100_000), errDeep},
		"a wide one":       {"<a>" + strings.Repeat("<b/>", maxTokens) + "</a>", errDeep},
		"an open one":      {strings.Repeat("<a>", 100_000), errDeep},
		"with a namespace": {`<p:a xmlns:p="urn:x"><p:b>text</p:b></p:a>`, nil},
	} {
		if err := shallowAnswer(base64.StdEncoding.EncodeToString([]byte(c.document))); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for _, bad := range []string{"%%%", base64.StdEncoding.EncodeToString([]byte("<a"))} {
		if shallowAnswer(bad) == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
