package automation

import (
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
)

// fullPause is the longest wait on a day that takes no more: a person may permit more meanwhile.
const fullPause = 6 * time.Hour

// leaveOut notes that an item was not made because the day of a mandate is spent. That is the bound that a person has
// set, and no failure of the automation.
func (w *run) leaveOut(entry string, cause *errs.Error, of errs.SpendContext) (err error) {
	if w.spent, err = time.Parse(time.RFC3339, of.DayEndsAt); err != nil {
		return fmt.Errorf("automation: the end of the day of %s: %w", of.Mandate, err)
	}
	if last := w.r.LastRun; last == nil || last.Entry != entry || last.Failure == nil ||
		last.Failure.Message != cause.Message {
		w.r.missed(w.now, entry, cause)
	}
	return nil
}
