package social

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/quota"
)

// The limits of logins that a platform refuses, for one login and for all logins that an account of
// the service tries. They prevent that passwords are guessed through the service.
var (
	oneLogin = quota.Limit{
		Name: "login", Most: 10, Window: time.Hour,
		Message: "The platform has refused this login 10 times within an hour. Check the user name and the password " +
			"at the platform, and repeat the request after the time in Retry-After.",
	}
	allLogins = quota.Limit{
		Name: "logins", Most: 50, Window: time.Hour,
		Message: "The platform has refused 50 logins of this account within an hour. Repeat the request after the " +
			"time in Retry-After.",
	}
)

// logIn tries a login, unless too many logins have been refused. Only logins that the platform refuses count.
func (s *Service) logIn(ctx context.Context, o tenant.Owner, name string, b connectBody,
	try func() (platform.Account, error)) (platform.Account, error) {
	var counted []*quota.Attempt
	refused := func(err error) bool { return platform.Ended(err) || platform.Rejects(err) }
	forget := func() {
		for _, a := range counted {
			if err := a.Forget(context.WithoutCancel(ctx)); err != nil {
				slog.Warn("login still counted", "platform", name, "error", err)
			}
		}
	}
	for _, l := range []struct {
		quota.Limit
		subject string
	}{{oneLogin, name + "#" + spelled(b.Username)}, {allLogins, name}} {
		a, err := l.Begin(ctx, s.db, s.now(), o, l.subject)
		if err != nil {
			forget()
			return platform.Account{}, err
		}
		counted = append(counted, a)
	}
	a, err := try()
	if !refused(err) {
		forget()
	}
	return a, err
}

// spelled returns the canonical spelling of a user name. Neither case nor the characters between
// the digits of a telephone number make a different login.
func spelled(username string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("+-() \t", r) {
			return -1
		}
		return r
	}, strings.ToLower(username))
}
