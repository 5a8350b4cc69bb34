// Package cognito federates the providers of customers into a user pool of Amazon Cognito. Start with Pool.
package cognito

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/awsapi"
	"github.com/content-automation/api/pkg/record/connection"
)

// Pool is a user pool with one client.
type Pool struct {
	client        *awsapi.Client
	pool, appName string
}

var (
	_ connection.Pool   = (*Pool)(nil)
	_ connection.Client = (*Pool)(nil)
)

// New returns the pool with an id, and its client with an id. Without the latter, the client of the account area is
// looked up by its name.
func New(cfg aws.Config, poolID, clientID string) *Pool {
	return &Pool{awsapi.New(cfg, "cognito-idp", "cognito-idp"), poolID, clientID}
}

// settings returns the settings of a provider, and the mapping of its attributes to those of the pool.
func settings(p connection.Provider) (kind string, details, attributes map[string]string) {
	if p.Kind == connection.SAML {
		details = map[string]string{"IDPSignout": "false", "EncryptedResponses": "false"}
		if p.MetadataURL != "" {
			details["MetadataURL"] = p.MetadataURL
		} else {
			details["MetadataFile"] = p.Metadata
		}
		return "SAML", details, map[string]string{
			"email": "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
			"name":  "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name", "custom:groups": "groups",
		}
	}
	return "OIDC", map[string]string{
		"oidc_issuer": p.Issuer, "client_id": p.ClientID, "client_secret": p.ClientSecret,
		"authorize_scopes": "openid email profile", "attributes_request_method": "GET",
	}, map[string]string{"email": "email", "name": "name", "custom:groups": "groups", "username": "sub"}
}

// fields are the members of the input of a call beside the id of the pool, or those of its output.
type fields map[string]any

// call makes a call of the pool. Out may be nil.
func (p *Pool) call(ctx context.Context, operation string, in fields, out any) error {
	in["UserPoolId"] = p.pool
	return p.client.Call(ctx, "AWSCognitoIdentityProviderService."+operation, in, out)
}

// is reports whether Cognito has refused a call with the code of that name.
func is(err error, name string) bool {
	var refusal smithy.APIError
	return errors.As(err, &refusal) && refusal.ErrorCode() == name+"Exception"
}

// entry is one of a list: a provider, a client or a user.
type entry struct{ ProviderName, ClientName, ClientId, Username string } //nolint:revive // the names are of AWS

// page is a part of a list, and where the next one begins.
type page struct {
	Providers, UserPoolClients, Users []entry
	NextToken, PaginationToken        string
}

// list returns what an operation lists, in the order of the service.
func (p *Pool) list(ctx context.Context, operation string, in fields) (all []entry, err error) {
	for {
		var out page
		if err := p.call(ctx, operation, in, &out); err != nil {
			return all, refused(err)
		}
		all = slices.Concat(all, out.Providers, out.UserPoolClients, out.Users)
		switch {
		case out.NextToken != "":
			in["NextToken"] = out.NextToken
		case out.PaginationToken != "":
			in["PaginationToken"] = out.PaginationToken
		default:
			return all, nil
		}
	}
}

// SetProvider makes a provider or replaces its settings. It may be repeated.
func (p *Pool) SetProvider(ctx context.Context, name string, of connection.Provider) error {
	kind, details, attributes := settings(of)
	in := fields{"ProviderName": name, "ProviderType": kind, "ProviderDetails": details, "AttributeMapping": attributes}
	err := p.call(ctx, "CreateIdentityProvider", in, nil)
	if is(err, "DuplicateProvider") {
		delete(in, "ProviderType")
		err = p.call(ctx, "UpdateIdentityProvider", in, nil)
	}
	return refused(err)
}

// RemoveProvider removes a provider, first from those that the client offers. Removing an unknown one has no effect.
func (p *Pool) RemoveProvider(ctx context.Context, name string) error {
	if err := p.offer(ctx, name); err != nil {
		return err
	}
	err := p.call(ctx, "DeleteIdentityProvider", fields{"ProviderName": name}, nil)
	if err != nil && !is(err, "ResourceNotFound") {
		return refused(err)
	}
	// Another call may have offered it once more before it was deleted.
	return p.offer(ctx, "")
}

// Forget deletes the people with an e-mail address, those of the pool itself and those of providers, and returns their
// number. It may be repeated.
func (p *Pool) Forget(ctx context.Context, email string) (deleted int, err error) {
	users, err := p.list(ctx, "ListUsers", fields{"AttributesToGet": []string{"email"},
		"Filter": "email = \"" + strings.ReplaceAll(email, `"`, `\"`) + "\""})
	if err != nil {
		return 0, err
	}
	for _, u := range users {
		err := p.call(ctx, "AdminDeleteUser", fields{"Username": u.Username}, nil)
		if err != nil && !is(err, "UserNotFound") {
			return deleted, refused(err)
		}
		deleted++
	}
	return deleted, nil
}

// OfferAll lets the client use every provider of the pool. An update of the client by its template leaves those that
// the template names.
func (p *Pool) OfferAll(ctx context.Context) error { return p.offer(ctx, "") }

// Providers returns the names of the providers of the pool, sorted.
func (p *Pool) Providers(ctx context.Context) ([]string, error) {
	all, err := p.providers(ctx, "")
	return slices.DeleteFunc(all, func(name string) bool { return name == native }), err
}

// native is the name of the pool's own people among the providers of a client.
const native = "COGNITO"

// providers returns the names of the pool's own people and of all its providers but one, sorted.
func (p *Pool) providers(ctx context.Context, except string) ([]string, error) {
	found, err := p.list(ctx, "ListIdentityProviders", fields{})
	if err != nil {
		return nil, err
	}
	all := []string{native}
	for _, one := range found {
		if one.ProviderName != except {
			all = append(all, one.ProviderName)
		}
	}
	slices.Sort(all)
	return all, nil
}

// ClientName is the name of the account area among the clients of the pool.
const ClientName = "account-area"

// app returns the id of the client.
func (p *Pool) app(ctx context.Context) (string, error) {
	if p.appName != "" {
		return p.appName, nil
	}
	clients, err := p.list(ctx, "ListUserPoolClients", fields{})
	if err != nil {
		return "", err
	}
	for _, one := range clients {
		if one.ClientName == ClientName {
			return one.ClientId, nil
		}
	}
	return "", errs.New(errs.ProviderUnavailable, "The user pool has no client %s. Deploy the stack api.", ClientName)
}

// offers bounds the updates of a client by one call, of which each but the first mends that of another call.
const offers = 5

// offer lets people choose the providers of the pool, except one that is about to go. Cognito has no condition for an
// update, and the later of two calls would undo the earlier. One task at a time makes them; a deployment makes its own.
// So each call asks again after its own update, and mends what another call, which had asked before, has written
// meanwhile: whoever writes last sees all providers.
func (p *Pool) offer(ctx context.Context, except string) error {
	app, err := p.app(ctx)
	if err != nil {
		return err
	}
	for range offers {
		want, err := p.providers(ctx, except)
		if err != nil {
			return err
		}
		var out struct{ UserPoolClient fields }
		if err := p.call(ctx, "DescribeUserPoolClient", fields{"ClientId": app}, &out); err != nil {
			return refused(err)
		}
		client := out.UserPoolClient
		have, _ := client[offered].([]any)
		slices.SortFunc(have, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		if slices.EqualFunc(want, have, func(name string, one any) bool { return name == one }) {
			return nil
		}
		// An update replaces all settings. These are no settings.
		for _, name := range []string{"ClientSecret", "CreationDate", "LastModifiedDate"} {
			delete(client, name)
		}
		client[offered] = want
		if err := p.call(ctx, "UpdateUserPoolClient", client, nil); err != nil {
			return refused(err)
		}
	}
	return errs.New(errs.ProviderUnavailable, "Others set providers up at the same time. Try again in a minute.")
}

// offered is the member of a client with the names of its providers.
const offered = "SupportedIdentityProviders"

// throttledError is the error of a call that Cognito has refused only because it gets too many.
type throttledError struct{ cause error }

// Error returns the text of the cause.
func (e *throttledError) Error() string { return e.cause.Error() }

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *throttledError) Unwrap() error { return e.cause }

// Throttled makes tasks wait without counting a failure.
func (e *throttledError) Throttled() bool { return true }

// refused returns the error of a call of the pool: validation_failed if it does not take the settings.
func refused(err error) error {
	if err == nil {
		return nil
	}
	if is(err, "TooManyRequests") {
		err = &throttledError{err}
	}
	if is(err, "InvalidParameter") {
		return errs.Wrap(err, errs.ValidationFailed, "The user pool does not take these settings of the provider. "+
			"Check its metadata, or its issuer and client.")
	}
	return errs.Wrap(err, errs.ProviderUnavailable, "The user pool cannot be changed at the moment. Try again in a "+
		"minute.")
}
