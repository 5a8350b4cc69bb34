package social

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
)

// callerError returns the caller's error for a platform's error; param names the credential.
func callerError(err error, name, param string) error {
	var e *platform.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errs.Wrap(err, errs.Timeout, "The platform %s did not answer in time. Try again.", name)
	case e.Code == platform.CodeNotConfigured:
		return notConfigured(name)
	case e.Code == platform.CodeMissingPermission || e.Code == platform.CodeInvalidOption:
		return because(err, "/channel", e.Message)
	case e.Code == platform.CodeContentRefused:
		return because(err, "/channel", "is not known to the platform, or cannot be seen with this token")
	case platform.Ended(e) && param == "/password":
		return because(err, param, e.Message) // the message names further possible reasons
	case platform.Ended(e):
		return because(err, param, "was refused by the platform")
	case platform.Rejects(e):
		return because(err, param, e.Message)
	}
	unavailable := errs.Wrap(err, errs.ProviderUnavailable, "The platform %s is unavailable at the moment. Try again "+
		"later.", name)
	unavailable.RetryAfter = max(e.RetryAfter, 5*time.Second)
	return unavailable
}

func because(cause error, param, message string) error {
	e := errs.Invalid(param, "%s", message)
	e.Cause = cause
	return e
}

func notConfigured(name string) error {
	return errs.Invalid("/platform", "is not set up on this service: its operator has registered no application with "+
		"%s. See configured in GET /v1/social/platforms, or add your own by POST /v1/social/applications", name)
}

// requireConfigured refuses a platform for which the operator has no application.
func (s *Service) requireConfigured(ctx context.Context, m tenant.Mode, name string, b connectBody) error {
	if b.CommunityToken != "" {
		return nil
	}
	ok, err := s.platforms.Configured(ctx, m, name)
	switch {
	case err != nil:
		return errs.Wrap(err, errs.ProviderUnavailable, "The settings of the platform cannot be read at the moment. "+
			"Try again in a few seconds.")
	case !ok:
		return notConfigured(name)
	}
	return nil
}
