package safehttp

import (
	"errors"

	"github.com/content-automation/api/pkg/base/errs"
)

// InvalidURL returns the answer to the caller whose URL an error of CheckURL refuses. Param is the JSON pointer of the
// member with the URL. Other errors are returned unchanged.
func InvalidURL(err error, param string) error {
	var blocked *BlockedError
	switch {
	case errors.As(err, &blocked):
		return errs.Invalid(param, "%s", Describe(err))
	case errors.Is(err, ErrLookup):
		e := errs.Invalid(param, "The host name could not be looked up. Try again, or check its name servers.")
		e.Cause = err
		return e
	default:
		return err
	}
}
