package base_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/base/text"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"abcd", 0, ""},
		{"aé", 2, "a"}, {"aéb", 3, "aé"}, {"a€", 3, "a"}, {"a€", 4, "a€"}, {"ab😀", 5, "ab"}, {"ab😀c", 6, "ab😀"},
		{"\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80"}, {"é", 1, ""},
	} {
		if got := text.ClipText(c.text, c.most); got != c.want {
			t.Errorf("Text(%q, %d) is %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a€b", 2)
	f.Fuzz(func(t *testing.T, s string, most int) {
		most = max(most, 0) % 1024
		got := text.ClipText(s, most)
		if len(got) > most || !strings.HasPrefix(s, got) || utf8.ValidString(s) && !utf8.ValidString(got) ||
			len(s) > most && len(got) <= most-utf8.UTFMax {
			t.Errorf("Text(%q, %d) is %q", s, most, got)
		}
	})
}

func TestLetters(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 2, ""}, {" é ", 3, " é "}, {"é€😀", 2, "é€"}, {"ab cd", 3, "ab"}, {" abcd", 3, "ab"}, {"abc", 0, ""},
	} {
		if got := text.ClipLetters(c.text, c.most); got != c.want {
			t.Errorf("Letters(%q, %d) is %q, want %q", c.text, c.most, got, c.want)
		}
	}
}
