package composer

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"github.com/content-automation/api/pkg/media/compose/script"
)

// lastDays say that an offer ends with a day, by language: %[1]d is the day, %[2]d the number of the month and %[3]s
// its English name.
var lastDays = map[string]string{
	"en": "until %[1]d %[3]s", "de": "bis %[1]d.%[2]d.", "fr": "jusqu’au %[1]d/%[2]d", "es": "hasta el %[1]d/%[2]d",
	"it": "fino al %[1]d/%[2]d", "pt": "até %[1]d/%[2]d", "nl": "t/m %[1]d-%[2]d", "pl": "do %[1]d.%[2]d",
	"ru": "до %[1]d.%[2]d", "uk": "до %[1]d.%[2]d", "tr": "son gün %[1]d.%[2]d", "ar": "حتى %[1]d/%[2]d",
	"he": "עד %[1]d.%[2]d", "hi": "%[1]d/%[2]d तक", "th": "ถึง %[1]d/%[2]d", "vi": "đến %[1]d/%[2]d",
	"id": "sampai %[1]d/%[2]d", "zh": "至%[2]d月%[1]d日", "ja": "%[2]d月%[1]d日まで", "ko": "%[2]d월 %[1]d일까지",
}

// until says when an offer ends in a language (BCP 47), or nothing in a language that the table lacks.
func until(day time.Time, lang string) string {
	base, _, _ := strings.Cut(strings.ToLower(lang), "-")
	pattern, ok := lastDays[base]
	if !ok || day.IsZero() {
		return ""
	}
	return fmt.Sprintf(pattern, day.Day(), int(day.Month()), day.Format("Jan"))
}

// percent writes a whole percentage as a language (BCP 47) does.
func percent(n int64, lang string) string {
	tag, err := language.Parse(lang)
	if err != nil {
		tag = language.English
	}
	said := message.NewPrinter(tag).Sprint(number.Percent(float64(n) / 100))
	if said = strings.Replace(said, "-", "−", 1); !script.Drawable(said) {
		return fmt.Sprintf("−%d %%", -n)
	}
	return said
}
