package stack_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/customer"
)

func TestPeopleSignInWithAPool(t *testing.T) {
	for customer, s := range map[string]stacks{"acme": acme, "initech": initech} {
		pools, clients := s.of("AWS::Cognito::UserPool"), s.of("AWS::Cognito::UserPoolClient")
		if len(pools) != 1 || len(clients) != 1 || len(s.of("AWS::Cognito::UserPoolDomain")) != 1 {
			t.Fatalf("%s has %d pools and %d clients", customer, len(pools), len(clients))
		}
		for id, r := range pools {
			if !strings.Contains(id, "-data/") || r.DeletionPolicy != "RetainExceptOnCreate" {
				t.Errorf("%s can be lost: %s", id, r.DeletionPolicy)
			}
			if r.Properties["DeletionProtection"] != "ACTIVE" {
				t.Errorf("%s can be deleted: %v", id, r.Properties["DeletionProtection"])
			}
			if fmt.Sprint(r.Properties["AutoVerifiedAttributes"]) != "[email]" ||
				fmt.Sprint(r.Properties.at("UserAttributeUpdateSettings",
					"AttributesRequireVerificationBeforeUpdate")) != "[email]" {
				t.Errorf("%s takes addresses that are not verified: %v", id, r.Properties)
			}
			// Long passwords of any characters, which nobody has to change; a second factor by an app.
			if got := fmt.Sprint(r.Properties.at("Policies", "PasswordPolicy")); got != "map[MinimumLength:12 "+
				"PasswordHistorySize:4 RequireLowercase:false RequireNumbers:false RequireSymbols:false "+
				"RequireUppercase:false]" || r.Properties["MfaConfiguration"] != "OPTIONAL" ||
				fmt.Sprint(r.Properties["EnabledMfas"]) != "[SOFTWARE_TOKEN_MFA]" {
				t.Errorf("%s has the rules %s and the factors %v, %v", id, got, r.Properties["MfaConfiguration"],
					r.Properties["EnabledMfas"])
			}
		}
		// A deployment leaves the providers of the pool that it has found.
		offered := map[string]string{"acme": "[COGNITO]", "initech": "[COGNITO con_okta]"}
		for id, r := range clients {
			p := r.Properties
			for name, want := range map[string]string{
				"GenerateSecret": "false", "AllowedOAuthFlows": "[code]", "AllowedOAuthScopes": "[openid email profile]",
				"AccessTokenValidity": "15", "IdTokenValidity": "15", "RefreshTokenValidity": "720",
				"EnableTokenRevocation": "true", "PreventUserExistenceErrors": "ENABLED",
				"SupportedIdentityProviders": offered[customer],
				// No sign-in by the API of the pool, only on its pages.
				"ExplicitAuthFlows": "[ALLOW_REFRESH_TOKEN_AUTH ALLOW_USER_PASSWORD_AUTH]",
				// All attributes that a provider is mapped to must be writable.
				"WriteAttributes": "[custom:groups email name]",
				"ReadAttributes":  "[custom:groups email email_verified name]",
			} {
				if got := fmt.Sprint(p[name]); got != want {
					t.Errorf("%s: %s is %s, want %s", id, name, got, want)
				}
			}
			if to := fmt.Sprint(p["CallbackURLs"]); !strings.Contains(to, "https://") ||
				!strings.Contains(to, "/auth/callback") || strings.Contains(to, "localhost") {
				t.Errorf("%s sends people to %s", id, to)
			}
		}
	}
	if len(failover.of("AWS::Cognito::UserPool")) != 0 {
		t.Error("a standby has a pool")
	}
}

// A function that faces the internet does not change what people can choose. The worker that does makes no providers.
// The one that erases accounts deletes their people, and changes nothing else.
func TestTheClientOfThePoolBelongsToAWorker(t *testing.T) {
	want := map[string]string{
		"console": "[cognito-idp:CreateIdentityProvider cognito-idp:UpdateIdentityProvider]",
		"settle": "[cognito-idp:DeleteIdentityProvider cognito-idp:DescribeUserPoolClient " +
			"cognito-idp:ListIdentityProviders cognito-idp:ListUserPoolClients cognito-idp:UpdateUserPoolClient]",
		"transfer": "[cognito-idp:AdminDeleteUser cognito-idp:ListUsers]",
	}
	for customer, s := range map[string]stacks{"acme": acme, "initech": initech, "local": local, "failover": failover} {
		found := 0
		for name, permissions := range permissionsOf(s) {
			for _, p := range permissions {
				if !strings.HasPrefix(p.actions[0], "cognito-idp:") {
					continue
				}
				found++
				if got := fmt.Sprint(p.actions); got != want[name] || !strings.Contains(p.resources, "People") {
					t.Errorf("%s: %s may %s on %s", customer, name, got, p.resources)
				}
			}
		}
		if pools := customer == "acme" || customer == "initech"; found != 3 && pools || found > 0 && !pools {
			t.Errorf("%s: %d functions may use the pool", customer, found)
		}
	}
}

// The emulated pool is reached by the address of the emulator, and federates nobody.
func TestTheLocalPoolIsOnThisMachine(t *testing.T) {
	if len(local.of("AWS::Cognito::UserPool")) != 1 {
		t.Error("the local system has no pool")
	}
	found := 0
	for id, r := range local.of("AWS::Lambda::Function") {
		if variables := fmt.Sprint(r.Properties.at("Environment", "Variables")); strings.Contains(variables, "SIGN_IN_") &&
			!strings.Contains(id, "McpFunction") {
			found++
			if !strings.Contains(fmt.Sprint(r.Properties.at("Environment", "Variables", "SIGN_IN_JWKS_URL")),
				"Ref:"+customer.SignInURLParameter) || strings.Contains(variables, "USER_POOL_ID") {
				t.Errorf("%s has %s", id, variables)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d functions know the issuer", found)
	}
}

func TestTheAuthorizerKnowsTheIssuer(t *testing.T) {
	found := false
	for id, r := range acme.of("AWS::Lambda::Function") {
		variables := fmt.Sprint(r.Properties.at("Environment", "Variables"))
		if !strings.Contains(id, "AuthorizerFunction") {
			if strings.Contains(variables, "SIGN_IN_") && !strings.Contains(id, "ConsoleFunction") &&
				!strings.Contains(id, "McpFunction") {
				t.Errorf("%s knows the issuer", id)
			}
			continue
		}
		found = true
		// Identities are stored by a name that has neither the region nor the id of the pool, so that they can move.
		if pool := r.Properties.at("Environment", "Variables", "SIGN_IN_POOL"); pool != "acme-prod" {
			t.Errorf("%s stores people of the pool %v", id, pool)
		}
		for _, name := range []string{"SIGN_IN_ISSUER", "SIGN_IN_CLIENT_ID", "SIGN_IN_JWKS_URL"} {
			if !strings.Contains(variables, name) {
				t.Errorf("%s lacks %s", id, name)
			}
		}
		if !strings.Contains(variables, "https://cognito-idp.eu-central-1.amazonaws.com/") ||
			!strings.Contains(variables, "/.well-known/jwks.json") || strings.Contains(variables, "SIGN_IN_TOKEN_URL") {
			t.Errorf("%s has %s", id, variables)
		}
	}
	if !found {
		t.Error("there is no authorizer")
	}
}

// Agents learn the issuer of people from the function mcp, which needs nothing else of it.
func TestAgentsLearnTheIssuer(t *testing.T) {
	for customer, s := range map[string]stacks{"acme": acme, "initech": initech, "local": local} {
		found := 0
		for id, r := range s.of("AWS::Lambda::Function") {
			if !strings.Contains(id, "McpFunction") {
				continue
			}
			found++
			variables, _ := r.Properties.at("Environment", "Variables").(map[string]any)
			issuer := fmt.Sprint(variables["SIGN_IN_ISSUER"])
			if !strings.Contains(issuer, "https://cognito-idp.") || !strings.Contains(issuer, "People") {
				t.Errorf("%s: %s has the issuer %s", customer, id, issuer)
			}
			for name := range variables {
				if strings.HasPrefix(name, "SIGN_IN_") && name != "SIGN_IN_ISSUER" {
					t.Errorf("%s: %s has %s", customer, id, name)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s has %d functions for agents", customer, found)
		}
	}
}
