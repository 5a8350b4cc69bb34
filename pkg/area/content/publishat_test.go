package content_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/errs"
)

func TestATimeOfPublicationThatIsNoneIsRefusedByItsName(t *testing.T) {
	w := newWorld(t)
	made := w.generated()
	for at, says := range map[string]string{
		"2026-06-01T10:00":           "with its zone",
		"2026-06-01T10:00:00":        "with its zone",
		"2026-06-01":                 "with its zone",
		"2026-13-01T10:00:00Z":       "with its zone",
		"2026-06-01T10:00:00+25:00":  "with its zone",
		"tomorrow":                   "with its zone",
		"2026-06-31T10:00:00Z":       "no day or time of the calendar",
		"2026-02-30T10:00:00+01:00":  "no day or time of the calendar",
		"2026-06-01T10:00:00.5+0100": "with its zone",
	} {
		for path, body := range map[string]object{
			"/v1/content-items":                          w.body("publish_at", at),
			"/v1/content-items/" + made.ID + "/schedule": {"publish_at": at},
		} {
			a := w.Call(http.MethodPost, path, body)
			a.Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/publish_at")
			if strings.Contains(a.Raw, "parsing time") || !strings.Contains(a.Raw, says) {
				t.Errorf("%s at %q: %s", path, at, a.Raw)
			}
		}
	}
}
