package identity

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

// Users are those who can sign in to a local system: one of each role.
func Users() []User {
	var all []User
	for _, r := range auth.Roles {
		name := string(r.Role)
		all = append(all, User{Subject: "user-" + name, Email: name + "@demo.example", Name: "Demo " + name})
	}
	return all
}

// Invite makes Users people of an account. An invitation that has expired is renewed.
func Invite(ctx context.Context, db *store.DB, account tenant.Account, now func() time.Time) error {
	people := person.NewService(db, now, rand.Reader)
	for i, u := range Users() {
		n := person.New{Account: account, Email: u.Email, Name: u.Name, Role: auth.Roles[i].Role, By: "operator"}
		tx := &store.Tx{}
		r, it, err := people.ByEmail(ctx, u.Email)
		switch {
		case errors.Is(err, store.ErrNotFound):
			_, _, err = people.Invite(tx, n)
		case err == nil && r.State == person.Invited && !r.Open():
			_, _, err = people.Reinvite(tx, r, it, n)
		}
		if err == nil {
			err = db.Commit(ctx, tx)
		}
		if err != nil {
			return fmt.Errorf("identity: invite %s: %w", u.Email, err)
		}
	}
	return nil
}
