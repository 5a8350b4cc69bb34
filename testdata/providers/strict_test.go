package main_test

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/content-automation/api/testdata/providers/strict"
)

func TestJSONRefusesWhatIsNotKnown(t *testing.T) {
	type body struct {
		Text  *string `json:"text"`
		Count *int    `json:"count"`
	}
	for name, c := range map[string]struct {
		contentType, body string
		ok                bool
	}{
		"all":                    {"application/json", `{"text":"x","count":2}`, true},
		"a character set":        {"application/json; charset=utf-8", `{"text":"x"}`, true},
		"another type of body":   {"text/plain", `{"text":"x"}`, false},
		"no type of body":        {"", `{"text":"x"}`, false},
		"an unknown member":      {"application/json", `{"text":"x","txet":"x"}`, false},
		"a number for a text":    {"application/json", `{"text":1}`, false},
		"a text for a number":    {"application/json", `{"count":"2"}`, false},
		"a fraction":             {"application/json", `{"count":2.5}`, false},
		"two objects":            {"application/json", `{"text":"x"}{}`, false},
		"no JSON":                {"application/json", `text=x`, false},
		"nothing":                {"application/json", ``, false},
		"more than anybody asks": {"application/json", `{"text":"` + strings.Repeat("x", 4<<20) + `"}`, false},
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.contentType)
		var into body
		sent, err := strict.JSON(r, &into)
		if (err == nil) != c.ok {
			t.Errorf("%s: got %v, want ok: %v", name, err, c.ok)
		}
		if c.ok && (sent["text"] != "x" || *into.Text != "x") {
			t.Errorf("%s: read %+v, sent %v", name, into, sent)
		}
	}
}

func TestQueryRefusesWhatIsNotKnown(t *testing.T) {
	for raw, ok := range map[string]bool{"": true, "a=1": true, "a=1&b=2": true, "a=1&a=2": false, "c=1": false} {
		q, err := url.ParseQuery(raw)
		if err != nil {
			t.Fatal(err)
		}
		if err := strict.Query(q, "a", "b"); (err == nil) != ok {
			t.Errorf("%q: %v", raw, err)
		}
	}
}
