package area_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
)

// Exports of the whole account, each with a copy of all files, have a bound of their own.
func TestB15ExportsOfTheWholeAccountAreBounded(t *testing.T) {
	w := newTransferWorld(t)
	for range 20 {
		w.Call(http.MethodPost, "/v1/exports", map[string]any{}).Into(t, http.StatusAccepted, &struct{}{})
	}
	w.Call(http.MethodPost, "/v1/exports", map[string]any{}).Refused(t, 409, errs.InvalidState, "")
	w.Clock.Add(24 * time.Hour)
	w.Call(http.MethodPost, "/v1/exports", map[string]any{}).Into(t, http.StatusAccepted, &struct{}{})
}
