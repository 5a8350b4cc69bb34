package httpapi

import "testing"

func TestAnUnknownPathIsToldTheNearest(t *testing.T) {
	for unknown, want := range map[string]string{
		"/v1/factories/":                "leave out the slash at its end.",
		"/v1/factories/fac_1/":          "leave out the slash at its end.",
		"/v1/factory":                   "did you mean /v1/factories?",
		"/v1/content_items":             "did you mean /v1/content-items?",
		"/v1/contentItems/cnt_1/cancle": "did you mean /v1/content-items/{content_item_id}/cancel?",
		"/v1//factories":                "did you mean /v1/factories?",
		"/factories":                    "did you mean /v1/factories?",
		"/v1/models":                    "did you mean /v1/catalog/models?",
		"/v1/nothing":                   ".",
		"/v1/factories/fac_1/x/y/z":     ".",
		"/":                             ".",
	} {
		if got := pathHint(unknown); got != "; "+want && got != ": "+want && got != want {
			t.Errorf("%s: got %q, want %q", unknown, got, want)
		}
	}
}
