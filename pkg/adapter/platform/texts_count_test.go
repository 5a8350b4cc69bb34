package platform_test

import (
	"testing"

	"github.com/content-automation/api/pkg/adapter/platform/texts"
)

func TestSigns(t *testing.T) {
	for s, want := range map[string][2]int{ // of names and of hashtags
		"":                          {0, 0},
		"@a and @b_c, (@d)":         {3, 0},
		"mail@example.com":          {0, 0},
		"@a@b":                      {1, 0},
		"＠acme ＃東京":                 {1, 1},
		"https://example.com/@a":    {1, 0},
		"@.a @ @":                   {1, 0},
		"#a #b#c #2026":             {0, 4},
		"C#, a#b, # 5 and &#39;":    {0, 0},
		"https://example.com/#sale": {0, 1},
		"#a-b #c.#d":                {0, 3},
		"#हिन्दी#ไทย":               {0, 2},
	} {
		if got := [2]int{texts.Signs(s, texts.At), texts.Signs(s, texts.Hash)}; got != want {
			t.Errorf("%q has %v, want %v", s, got, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	for s, want := range map[string]int{
		"":                                       0,
		"https://a.example and http://b.example": 2,
		"https://a.example. (https://a.example)": 1,
		"https://a.example/あ https://a.example/い": 2,
		"WWW.a.example": 1,
		"https://":      0,
		"a.example":     0,
	} {
		if got := texts.Addresses(s); got != want {
			t.Errorf("%q has %d, want %d", s, got, want)
		}
	}
}
