package platform_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/platform"
)

func TestWordsOfPlatformsAreOneLineWithoutTokens(t *testing.T) {
	for said, want := range map[string]string{
		"":                               "",
		" The page\n was\tdeleted.\x00 ": "The page was deleted.",
		"Content is a duplicate of urn:li:share:7123456789012345678": "Content is a duplicate of " +
			"urn:li:share:7123456789012345678",
		"Error validating access token: EAAB1234567890abcdefghijklmnopqrstuvwxyz": "Error validating access [removed]",
		"see https://a.example/?access_token=abc&x=1":                             "see https://a.example/?[removed]&x=1",
		`{"access_token":"EAAB12","x":1}`:                                         `{"[removed]","x":1}`,
		"token: abc123 is wrong":                                                  "[removed] is wrong",
		"The refresh token is invalid: 12 attempts":                               "The refresh token is invalid: 12 attempts",
		"error code: 190, key: title":                                             "error code: 190, key: title",
		"no eyJhbGciOiJIUzI1NiJ9.e30.x":                                           "no [removed]",
		"bot 110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw":                        "bot [removed]",
		"https://api.telegram.org/bot110201543:AAHdqT/sendMessage failed":         "[removed] failed",
		"see https://developers.facebook.com/docs/v20/12345678901/photos": "see " +
			"https://developers.facebook.com/docs/v20/12345678901/photos",
		"Bearer abc.def is not valid": "[removed] is not valid",
		"\u202egnorw\u2066":           "gnorw",
		"Слишком длинный текст записи, сократите её до допустимого размера": "Слишком длинный текст записи, сократите её " +
			"до допустимого размера",
	} {
		if got := platform.Words(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
	long := platform.Words(strings.Repeat("слово ", 500))
	if n := utf8.RuneCountInString(long); n > platform.MaxWords || !strings.HasSuffix(long, "…") {
		t.Errorf("%d characters: %s", n, long)
	}
}
