package crm

import (
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/crm/registry"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
)

var (
	_ = format.Define("crm-token", format.Format{Pattern: "^[0-9A-Za-z]+$", Wanted: "a token of letters and digits",
		Longest: 100})
	_ = format.Define("bitrix24-webhook", format.Format{Longest: 500,
		Example: "https://acme.bitrix24.ru/rest/1/xxxxxxxxxxxxxxxx/"})
	_ = format.Define("product-template", format.Format{Shortest: 1, Longest: 2000, Example: "Present our new product"})
	_ = format.Define("deal-template", format.Format{Shortest: 1, Longest: 2000,
		Example: "A case study: what the customer needed, and what we delivered"})
)

type connectBody struct {
	profile.Given
	// CRM. Send this or integration_id.
	Kind kindID `json:"kind,omitempty" example:"bitrix24"`
	// Id of an integration to connect again. Send this or kind.
	IntegrationID string `json:"integration_id,omitempty" maxLength:"64" example:"int_01h455vb4pex5vsknk084sn02q"`
	// Factory that gets the products and makes the content.
	FactoryID string `json:"factory_id,omitempty" maxLength:"64" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// bitrix24: host of the portal; required without webhook_url. amocrm: host of the account, only if it is at
	// kommo.com.
	Portal string `json:"portal,omitempty" maxLength:"253" example:"acme.bitrix24.ru"`
	// bitrix24: address of an incoming webhook with the permission crm. It is kept as a secret.
	WebhookURL string `json:"webhook_url,omitempty" format:"bitrix24-webhook"`
	// bitrix24: token of the outgoing webhook. Webhooks without it are refused. Needs webhook_url.
	ApplicationToken string `json:"application_token,omitempty" format:"crm-token"`
	// What the integration does with products and stages. Absent: nothing, until it is changed.
	Mapping *mappingBody `json:"mapping,omitempty"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type patchBody struct {
	// Factory that gets the products and makes the content. It cannot change after products were imported.
	FactoryID *string `json:"factory_id,omitempty" maxLength:"64" nullable:"true"`
	// What the integration does with products and stages.
	Mapping *mappingBody `json:"mapping,omitempty"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

type mappingBody struct {
	// What is done with products. Absent: nothing.
	Products *productsBody `json:"products,omitempty"`
	// All stages that make content. A deal makes one item in each of them, once.
	Stages []Stage `json:"stages,omitempty" nullable:"false" maxItems:"20"`
}

// mapping returns the mapping of a body.
func (b *mappingBody) mapping() (m Mapping) {
	if b.Products != nil {
		m.Products = Products(*b.Products)
	}
	m.Stages = b.Stages
	return m
}

type productsBody struct {
	// Whether the products of the CRM become products of the factory, which is of type seller. A product that is
	// deleted in the CRM is archived.
	Import bool `json:"import,omitempty"`
	// Kind of the content that is made of a product that is added to the CRM later. Null: none is made.
	Kind *string `json:"kind,omitempty" enum:"post,video,carousel,story" nullable:"true" example:"carousel"`
	// Prompt of that content, which presents the product.
	Template *string `json:"template,omitempty" format:"product-template" nullable:"true"`
}

// Rules refuses a body that names no CRM.
func (b connectBody) Rules() error {
	if (b.Kind == "") == (b.IntegrationID == "") {
		return errs.Invalid("/kind", "send kind, which is one of %s, or the integration_id of an integration to "+
			"connect again, not both", strings.Join(registry.Names(), ", "))
	}
	return nil
}

var (
	host    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([a-z0-9-]{1,63}\.)+[a-z]{2,63}$`) })
	webhook = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/rest/[0-9]+/[0-9A-Za-z]+/?$`) })
)

// check refuses members that the CRM does not take, and the lack of members that it needs.
func (b connectBody) check(f crm.Facts, test bool) error {
	var found []error
	portal := strings.ToLower(b.Portal)
	switch {
	case b.Portal != "" && !f.Portal && !f.Site:
		found = append(found, errs.Invalid("/portal", "is not used to connect %s. Leave it out", f.Label))
	case b.Portal != "" && !host().MatchString(portal):
		found = append(found, errs.Invalid("/portal", "is not the name of a host; write it as acme.bitrix24.ru"))
	case b.Portal != "" && b.WebhookURL != "":
		found = append(found, errs.Invalid("/portal", "is part of webhook_url. Leave it out"))
	case b.Portal == "" && f.Portal && b.WebhookURL == "" && !test:
		found = append(found, errs.Invalid("/portal", "is missing: send the host of the portal, or webhook_url"))
	}
	switch u, err := url.Parse(b.WebhookURL); {
	case b.WebhookURL == "":
	case !f.Address:
		found = append(found, errs.Invalid("/webhook_url", "is not used to connect %s. Leave it out", f.Label))
	case err != nil || !webhook().MatchString(u.Path) || u.RawQuery != "" || u.User != nil:
		found = append(found, errs.Invalid("/webhook_url", "is not the address of an incoming webhook; write it as "+
			"https://acme.bitrix24.ru/rest/1/xxxxxxxxxxxxxxxx/"))
	}
	if b.ApplicationToken != "" && b.WebhookURL == "" {
		found = append(found, errs.Invalid("/application_token", "needs webhook_url"))
	}
	return errs.All(found...)
}
