package metered

import (
	"context"
	"crypto/rand"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/auth/signin/signintest"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/admission"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

// owner is the issuer's name of the person who calls the operations for people.
const owner = "owner"

// addOwner adds a person to an account, who has signed in.
func (w *World) addOwner(ctx context.Context, account tenant.Account) error {
	people, tx := person.NewService(w.State, w.Now, rand.Reader), &store.Tx{}
	_, _, err := people.Invite(tx, person.New{Account: account, Email: "owner@example.com", Name: "Grace Hopper",
		Role: auth.Owner, By: "operator"})
	if err == nil {
		err = w.State.Commit(ctx, tx)
	}
	if err == nil {
		_, err = admission.NewService(w.State, people, w.Now).Admit(ctx, signin.Identity{Issuer: signintest.URL,
			Subject: owner, Email: "owner@example.com", EmailVerified: true, Name: "Grace Hopper"})
	}
	return err
}
