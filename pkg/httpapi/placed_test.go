package httpapi

import "testing"

func TestThePlaceOfAFaultIsInTheBody(t *testing.T) {
	sent := map[string]any{"a": map[string]any{"b/c": []any{map[string]any{}}, "d": nil}}
	for param, want := range map[string]string{
		"": "", "If-Match": "If-Match", "/x": "/x", "/x/y": "", "/a/x": "/a/x", "/a/x/y": "/a", "/a/d/e": "/a",
		"/a/b~1c/0/z": "/a/b~1c/0/z", "/a/b~1c/1/z": "/a/b~1c", "/a/b~1c/-1/z": "/a/b~1c",
	} {
		if got := placeIn(sent, param); got != want {
			t.Errorf("%s: %q, want %q", param, got, want)
		}
	}
}
