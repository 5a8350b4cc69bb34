// Package cognito federates the providers of customers into a user pool of Amazon Cognito. Start with Pool.
package cognito

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	cognito "github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/connection"
)

// Pool is a user pool with one client.
type Pool struct {
	client        *cognito.Client
	pool, appName string
}

var (
	_ connection.Pool   = (*Pool)(nil)
	_ connection.Client = (*Pool)(nil)
)

// New returns the pool with an id, and its client with an id. Without the latter, the client of the account area is
// looked up by its name.
func New(cfg aws.Config, poolID, clientID string) *Pool {
	return &Pool{cognito.NewFromConfig(cfg), poolID, clientID}
}

// settings returns the settings of a provider, and the mapping of its attributes to those of the pool.
func settings(p connection.Provider) (kind types.IdentityProviderTypeType, details, attributes map[string]string) {
	if p.Kind == connection.SAML {
		details = map[string]string{"IDPSignout": "false", "EncryptedResponses": "false"}
		if p.MetadataURL != "" {
			details["MetadataURL"] = p.MetadataURL
		} else {
			details["MetadataFile"] = p.Metadata
		}
		return types.IdentityProviderTypeTypeSaml, details, map[string]string{
			"email": "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
			"name":  "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name", "custom:groups": "groups",
		}
	}
	return types.IdentityProviderTypeTypeOidc, map[string]string{
		"oidc_issuer": p.Issuer, "client_id": p.ClientID, "client_secret": p.ClientSecret,
		"authorize_scopes": "openid email profile", "attributes_request_method": "GET",
	}, map[string]string{"email": "email", "name": "name", "custom:groups": "groups", "username": "sub"}
}

// SetProvider makes a provider or replaces its settings. It may be repeated.
func (p *Pool) SetProvider(ctx context.Context, name string, of connection.Provider) error {
	kind, details, attributes := settings(of)
	_, err := p.client.CreateIdentityProvider(ctx, &cognito.CreateIdentityProviderInput{UserPoolId: &p.pool,
		ProviderName: &name, ProviderType: kind, ProviderDetails: details, AttributeMapping: attributes})
	var exists *types.DuplicateProviderException
	if errors.As(err, &exists) {
		_, err = p.client.UpdateIdentityProvider(ctx, &cognito.UpdateIdentityProviderInput{UserPoolId: &p.pool,
			ProviderName: &name, ProviderDetails: details, AttributeMapping: attributes})
	}
	return refused(err)
}

// RemoveProvider removes a provider, first from those that the client offers. Removing an unknown one has no effect.
func (p *Pool) RemoveProvider(ctx context.Context, name string) error {
	if err := p.offer(ctx, name); err != nil {
		return err
	}
	_, err := p.client.DeleteIdentityProvider(ctx, &cognito.DeleteIdentityProviderInput{UserPoolId: &p.pool,
		ProviderName: &name})
	var unknown *types.ResourceNotFoundException
	if err != nil && !errors.As(err, &unknown) {
		return refused(err)
	}
	// Another call may have offered it once more before it was deleted.
	return p.offer(ctx, "")
}

// Forget deletes the people with an e-mail address, those of the pool itself and those of providers, and returns their
// number. It may be repeated.
func (p *Pool) Forget(ctx context.Context, email string) (deleted int, err error) {
	pages := cognito.NewListUsersPaginator(p.client, &cognito.ListUsersInput{UserPoolId: &p.pool,
		Filter:          aws.String("email = \"" + strings.ReplaceAll(email, `"`, `\"`) + "\""),
		AttributesToGet: []string{"email"}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return deleted, refused(err)
		}
		for _, u := range page.Users {
			_, err := p.client.AdminDeleteUser(ctx, &cognito.AdminDeleteUserInput{UserPoolId: &p.pool,
				Username: u.Username})
			var gone *types.UserNotFoundException
			if err != nil && !errors.As(err, &gone) {
				return deleted, refused(err)
			}
			deleted++
		}
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
	all := []string{native}
	pages := cognito.NewListIdentityProvidersPaginator(p.client,
		&cognito.ListIdentityProvidersInput{UserPoolId: &p.pool})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, refused(err)
		}
		for _, one := range page.Providers {
			if name := aws.ToString(one.ProviderName); name != except {
				all = append(all, name)
			}
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
	pages := cognito.NewListUserPoolClientsPaginator(p.client, &cognito.ListUserPoolClientsInput{UserPoolId: &p.pool})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", refused(err)
		}
		for _, one := range page.UserPoolClients {
			if aws.ToString(one.ClientName) == ClientName {
				return aws.ToString(one.ClientId), nil
			}
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
		out, err := p.client.DescribeUserPoolClient(ctx, &cognito.DescribeUserPoolClientInput{UserPoolId: &p.pool,
			ClientId: &app})
		if err != nil {
			return refused(err)
		}
		have := slices.Sorted(slices.Values(out.UserPoolClient.SupportedIdentityProviders))
		if slices.Equal(have, want) {
			return nil
		}
		if err := p.update(ctx, out.UserPoolClient, want); err != nil {
			return err
		}
	}
	return errs.New(errs.ProviderUnavailable, "Others set providers up at the same time. Try again in a minute.")
}

// update sets the providers of a client. An update replaces all of its settings.
func (p *Pool) update(ctx context.Context, c *types.UserPoolClientType, providers []string) error {
	_, err := p.client.UpdateUserPoolClient(ctx, &cognito.UpdateUserPoolClientInput{
		UserPoolId: c.UserPoolId, ClientId: c.ClientId, ClientName: c.ClientName, SupportedIdentityProviders: providers,
		CallbackURLs: c.CallbackURLs, LogoutURLs: c.LogoutURLs, DefaultRedirectURI: c.DefaultRedirectURI,
		AllowedOAuthFlows: c.AllowedOAuthFlows, AllowedOAuthScopes: c.AllowedOAuthScopes,
		AllowedOAuthFlowsUserPoolClient: aws.ToBool(c.AllowedOAuthFlowsUserPoolClient),
		AccessTokenValidity:             c.AccessTokenValidity, IdTokenValidity: c.IdTokenValidity,
		RefreshTokenValidity: c.RefreshTokenValidity, TokenValidityUnits: c.TokenValidityUnits,
		EnableTokenRevocation: c.EnableTokenRevocation, ExplicitAuthFlows: c.ExplicitAuthFlows,
		PreventUserExistenceErrors: c.PreventUserExistenceErrors, ReadAttributes: c.ReadAttributes,
		WriteAttributes: c.WriteAttributes, AuthSessionValidity: c.AuthSessionValidity,
		RefreshTokenRotation:                     c.RefreshTokenRotation,
		AnalyticsConfiguration:                   c.AnalyticsConfiguration,
		EnablePropagateAdditionalUserContextData: c.EnablePropagateAdditionalUserContextData,
	})
	return refused(err)
}

// throttledError is the error of a call that Cognito has refused only because it gets too many.
type throttledError struct{ cause error }

// Error returns the text of the cause.
func (e *throttledError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *throttledError) Unwrap() error { return e.cause }

// Throttled makes tasks wait without counting a failure.
func (e *throttledError) Throttled() bool { return true }

// refused returns the error of a call of the pool: validation_failed if it does not take the settings.
func refused(err error) error {
	if err == nil {
		return nil
	}
	if busy := (*types.TooManyRequestsException)(nil); errors.As(err, &busy) {
		err = &throttledError{err}
	}
	var invalid *types.InvalidParameterException
	if errors.As(err, &invalid) {
		return errs.Wrap(err, errs.ValidationFailed, "The user pool does not take these settings of the provider. "+
			"Check its metadata, or its issuer and client.")
	}
	return errs.Wrap(err, errs.ProviderUnavailable, "The user pool cannot be changed at the moment. Try again in a "+
		"minute.")
}
