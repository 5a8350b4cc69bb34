package metered

import (
	"context"
	"crypto/rand"

	"github.com/content-automation/api/infra/verify/harness/signintest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/admission"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

// owner is the issuer's name of the person who calls the operations for people.
const owner = "owner"

// addOwner adds a person to an account, who has signed in.
func (w *World) addOwner(ctx context.Context, account tenant.Account) error {
	w.account = account
	_, _, err := w.AddPerson(ctx, auth.Owner, owner)
	return err
}

// AddPerson adds a person with a role to the account of the test key, who has signed in. It returns the person's id and
// access token. The name is that by which the issuer knows the person.
func (w *World) AddPerson(ctx context.Context, role auth.Role, name string) (personID, token string, err error) {
	people, tx := person.NewService(w.State, w.Now, rand.Reader), &store.Tx{}
	made, _, err := people.Invite(tx, person.New{Account: w.account, Email: name + "@example.com", Name: "Grace Hopper",
		Role: role, By: "operator"})
	if err == nil {
		err = w.State.Commit(ctx, tx)
	}
	if err == nil {
		_, err = admission.NewService(w.State, people, w.Now).Admit(ctx, signin.Identity{Pool: signintest.Pool,
			Subject: name, Email: name + "@example.com", EmailVerified: true, Name: "Grace Hopper"})
	}
	return made.ID, w.issuer.Access(name), err
}
