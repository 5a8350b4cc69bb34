package facebook

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

// page is a page with the rights of the login.
type page struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Username string          `json:"username"`
	Token    platform.Secret `json:"access_token"`
	// Tasks are what the login may do on the page. They are nil in a list of a business portfolio, which has tokens of
	// the pages alone on which the login has a role.
	Tasks   []string `json:"tasks"`
	Picture struct {
		Data struct {
			URL string `json:"url"`
		} `json:"data"`
	} `json:"picture"`
}

const ofPage = "id,name,username,access_token,picture{url}"

// publishing are the tasks that let a login publish, on pages of either kind
// (https://developers.facebook.com/docs/pages-api/overview#tasks).
var publishing = []string{"CREATE_CONTENT", "MANAGE", "PROFILE_PLUS_CREATE_CONTENT", "PROFILE_PLUS_MANAGE",
	"PROFILE_PLUS_FULL_CONTROL"}

// publishes reports whether the login may publish on the page.
func (p page) publishes() bool {
	may := p.Tasks == nil || slices.ContainsFunc(p.Tasks, func(t string) bool { return slices.Contains(publishing, t) })
	return may && p.Token != ""
}

// Connect implements platform.Connector. It returns the pages on which the login may post, each with
// its own token, which does not end while the owner's grant stands.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	short, err := p.Client.Exchange(ctx, p.OAuth, g, nil)
	if err != nil {
		return nil, err
	}
	prolong := p.OAuth
	prolong.Refused = refusals.Token
	form := url.Values{"grant_type": {"fb_exchange_token"}, "fb_exchange_token": {short.Access.Reveal()}}
	long, err := p.Client.Issue(ctx, prolong, form, short.Access)
	if err != nil {
		return nil, err
	}
	pages, err := graph.Pages[page](ctx, p.api, long.Access, ofPage)
	if err != nil {
		return nil, err
	}
	ends := graph.Ends(ctx, p.api, long.Access, p.Client.Now().Add(access))
	grantor := graph.Grantor(ctx, p.api, long.Access)
	var all []platform.Account
	var barred []string
	known := map[string]bool{}
	for _, page := range pages {
		if known[page.ID] || !graph.Number(page.ID) ||
			g.Choice != "" && g.Choice != page.ID && g.Choice != "@"+page.Username {
			continue
		}
		known[page.ID] = true
		if !page.publishes() {
			barred = append(barred, page.barred())
			continue
		}
		a := platform.Account{ID: page.ID, Name: page.Name, AvatarURL: page.Picture.Data.URL, Grantor: grantor,
			Token: platform.Token{Access: page.Token, Scopes: capabilities.Scopes, EndsAt: ends}}
		if page.Username != "" {
			a.Handle = "@" + page.Username
		}
		all = append(all, a)
	}
	if len(all) == 0 {
		message := "The login may create content on none of the chosen pages."
		if len(barred) > 0 {
			message += " " + strings.Join(barred[:min(len(barred), mostBarred)], " ")
		}
		return nil, platform.NeedsReconnect(platform.CodeNeedsReconnect, message)
	}
	return all, nil
}

// mostBarred bounds the pages that a message names.
const mostBarred = 3

// barred says what the login lacks on the page.
func (p page) barred() string {
	if len(p.Tasks) == 0 {
		return "On the page " + platform.Words(p.Name) + " it has no role."
	}
	return "On the page " + platform.Words(p.Name) + " it has " + strings.Join(p.Tasks, ", ") +
		", and lacks CREATE_CONTENT."
}
