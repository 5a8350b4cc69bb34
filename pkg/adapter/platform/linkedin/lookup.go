package linkedin

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// Lookup implements platform.Finder. It finds members among the followers of the organisation that is connected, and
// organisations by the name in the address of their page.
func (p *Platform) Lookup(ctx context.Context, a platform.Account, kind platform.LookupKind,
	text string) ([]platform.Found, error) {
	if kind == platform.LookupOrganization {
		return p.findOrganizations(ctx, a, text)
	}
	if !strings.HasPrefix(a.ID, organization) {
		return nil, platform.Reject(platform.CodeInvalidOption, "LinkedIn finds members among the followers of an "+
			"organisation: name the account of an organisation.")
	}
	var answer struct {
		Elements []struct {
			Member   string `json:"member"`
			First    string `json:"firstName"`
			Last     string `json:"lastName"`
			Headline string `json:"headline"`
		} `json:"elements"`
	}
	err := p.read(ctx, a.Token.Access, "/rest/peopleTypeahead", url.Values{"q": {"organizationFollowers"},
		"keywords": {text}, "organization": {a.ID}}, &answer)
	var all []platform.Found
	for _, e := range answer.Elements {
		if strings.HasPrefix(e.Member, member) {
			all = append(all, platform.Found{ID: e.Member, Name: strings.TrimSpace(e.First + " " + e.Last),
				Detail: e.Headline})
		}
	}
	return all, err
}

func (p *Platform) findOrganizations(ctx context.Context, a platform.Account,
	text string) (all []platform.Found, err error) {
	vanity := text
	if _, after, ok := strings.Cut(text, "/company/"); ok {
		vanity, _, _ = strings.Cut(after, "/")
	}
	var answer struct {
		Elements []struct {
			ID     int64  `json:"id"`
			Name   string `json:"localizedName"`
			Vanity string `json:"vanityName"`
		} `json:"elements"`
	}
	err = p.read(ctx, a.Token.Access, "/rest/organizations", url.Values{"q": {"vanityName"},
		"vanityName": {strings.ToLower(vanity)}}, &answer)
	for _, e := range answer.Elements {
		all = append(all, platform.Found{ID: organization + strconv.FormatInt(e.ID, 10), Name: e.Name,
			Detail: site + "/company/" + e.Vanity})
	}
	return all, err
}
