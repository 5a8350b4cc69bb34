// Package cognito federates the providers of customers into a user pool of Amazon Cognito.
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

var _ connection.Pool = (*Pool)(nil)

// New returns the pool with an id, and its client with an id.
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

// SetProvider makes a provider or replaces its settings, and lets the client use it. It may be repeated.
func (p *Pool) SetProvider(ctx context.Context, name string, of connection.Provider) error {
	kind, details, attributes := settings(of)
	_, err := p.client.CreateIdentityProvider(ctx, &cognito.CreateIdentityProviderInput{UserPoolId: &p.pool,
		ProviderName: &name, ProviderType: kind, ProviderDetails: details, AttributeMapping: attributes})
	var exists *types.DuplicateProviderException
	if errors.As(err, &exists) {
		_, err = p.client.UpdateIdentityProvider(ctx, &cognito.UpdateIdentityProviderInput{UserPoolId: &p.pool,
			ProviderName: &name, ProviderDetails: details, AttributeMapping: attributes})
	}
	if err != nil {
		return refused(err)
	}
	return p.offer(ctx, func(names []string) []string {
		if slices.Contains(names, name) {
			return names
		}
		return append(names, name)
	})
}

// RemoveProvider removes a provider. Removing an unknown one has no effect.
func (p *Pool) RemoveProvider(ctx context.Context, name string) error {
	err := p.offer(ctx, func(names []string) []string {
		return slices.DeleteFunc(names, func(n string) bool { return n == name })
	})
	if err != nil {
		return err
	}
	_, err = p.client.DeleteIdentityProvider(ctx, &cognito.DeleteIdentityProviderInput{UserPoolId: &p.pool,
		ProviderName: &name})
	var unknown *types.ResourceNotFoundException
	if errors.As(err, &unknown) {
		return nil
	}
	return refused(err)
}

// Forget deletes the people with an e-mail address, those of the pool itself and those of providers, and returns their
// number. It may be repeated.
func (p *Pool) Forget(ctx context.Context, email string) (deleted int, err error) {
	pages := cognito.NewListUsersPaginator(p.client, &cognito.ListUsersInput{UserPoolId: &p.pool,
		Filter: aws.String("email = \"" + strings.ReplaceAll(email, `"`, `\"`) + "\""), AttributesToGet: []string{"email"}})
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

// OfferAll lets the client use every provider of the pool. The template of the client names none of them, so that an
// update by the template leaves only the pool's own people.
func (p *Pool) OfferAll(ctx context.Context) error {
	all := []string{"COGNITO"}
	pages := cognito.NewListIdentityProvidersPaginator(p.client,
		&cognito.ListIdentityProvidersInput{UserPoolId: &p.pool})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return refused(err)
		}
		for _, one := range page.Providers {
			all = append(all, aws.ToString(one.ProviderName))
		}
	}
	return p.offer(ctx, func(names []string) []string {
		for _, name := range all {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return names
	})
}

// offer changes the providers that people may choose. An update of a client replaces all of its settings.
func (p *Pool) offer(ctx context.Context, change func([]string) []string) error {
	out, err := p.client.DescribeUserPoolClient(ctx, &cognito.DescribeUserPoolClientInput{UserPoolId: &p.pool,
		ClientId: &p.appName})
	if err != nil {
		return refused(err)
	}
	c := out.UserPoolClient
	before := slices.Clone(c.SupportedIdentityProviders)
	after := change(slices.Clone(before))
	if slices.Equal(before, after) {
		return nil
	}
	_, err = p.client.UpdateUserPoolClient(ctx, &cognito.UpdateUserPoolClientInput{
		UserPoolId: c.UserPoolId, ClientId: c.ClientId, ClientName: c.ClientName, SupportedIdentityProviders: after,
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

// refused returns the error of a call of the pool: validation_failed if it does not take the settings.
func refused(err error) error {
	if err == nil {
		return nil
	}
	var invalid *types.InvalidParameterException
	if errors.As(err, &invalid) {
		return errs.Wrap(err, errs.ValidationFailed, "The user pool does not take these settings of the provider. Check "+
			"its metadata, or its issuer and client.")
	}
	return errs.Wrap(err, errs.ProviderUnavailable, "The user pool cannot be changed at the moment. Try again in a minute.")
}
