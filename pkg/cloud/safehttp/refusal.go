package safehttp

import (
	"errors"

	"github.com/content-automation/api/pkg/base/errs"
)

// Refusal makes of an error of CheckURL the answer to the caller whose address it
// was; param is the JSON pointer of the member that had it. Other errors stay as
// they are.
func Refusal(err error, param string) error {
	var blocked *BlockedError
	switch {
	case errors.As(err, &blocked):
		return errs.Invalid(param, "%s", blocked.Reason)
	case errors.Is(err, ErrLookup):
		e := errs.Invalid(param, "The host name could not be looked up. Try again, or check its name servers.")
		e.Cause = err
		return e
	default:
		return err
	}
}
