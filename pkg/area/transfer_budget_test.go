package area_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/cost"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/base/budget"
)

// The worst lines and archives that an import takes cost at most a second and 64 MB.
func TestWorstCaseImports(t *testing.T) {
	line := func(data string) []byte { return []byte(`{"kind":"factory","id":"fac_1","data":` + data + `}`) }
	for name, c := range map[string]struct {
		text    []byte
		exceeds bool
	}{
		"values up to the bound": {line("[" + strings.Repeat("{},", 99_000) + "{}]"), false},
		"values":                 {line("[" + strings.Repeat("0,", (1<<20)/2-60) + "0]"), true},
		"depth":                  {line(strings.Repeat("[", (1<<20)/2-60) + strings.Repeat("]", (1<<20)/2-60)), true},
		"a text":                 {line(`"` + strings.Repeat("a", (1<<20)-100) + `"`), false},
	} {
		cost.AtMost(t, name, func() {
			_, err := transfer.ParseLine(t.Context(), 1, 2, c.text)
			if (err != nil) != c.exceeds || err != nil && !strings.Contains(err.Error(), "too many members") {
				t.Errorf("%s: %v", name, err)
			}
			if !c.exceeds {
				var tree any
				if err := json.Unmarshal(c.text, &tree); err != nil {
					t.Error(name, err)
				}
			}
		})
	}
	var all bytes.Buffer
	w := tar.NewWriter(&all)
	for range 2 * 200 {
		if err := w.WriteHeader(&tar.Header{Name: strings.Repeat("a", 90), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	cost.AtMost(t, "archive", func() {
		m, end := transfer.Archives.Begin(t.Context())
		defer end()
		read := tar.NewReader(m.Reader(bytes.NewReader(all.Bytes())))
		var err error
		for err == nil {
			if _, err = read.Next(); err == nil {
				err = m.Count(1)
			}
		}
		if !errors.Is(err, budget.ErrExceeded) || errors.Is(err, io.EOF) {
			t.Errorf("the archive ended with %v", err)
		}
	})
}
