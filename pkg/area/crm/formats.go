package crm

import "github.com/content-automation/api/pkg/base/format"

func init() {
	format.Define("crm-token", format.Format{Pattern: "^[0-9A-Za-z]+$", Wanted: "a token of letters and digits",
		Longest: 100})
	format.Define("bitrix24-webhook", format.Format{Longest: 500,
		Example: "https://acme.bitrix24.ru/rest/1/xxxxxxxxxxxxxxxx/"})
	format.Define("product-template", format.Format{Shortest: 1, Longest: 2000, Example: "Present our new product"})
	format.Define("deal-template", format.Format{Shortest: 1, Longest: 2000,
		Example: "A case study: what the customer needed, and what we delivered"})
}
