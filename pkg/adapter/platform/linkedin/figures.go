package linkedin

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// The rights to read figures. LinkedIn grants them to an application apart from those to publish, so that only
// operators whose application has them request them.
const (
	adminScope  = "rw_organization_admin"
	memberScope = "r_member_postAnalytics"
)

// query reads with a query in the format of Rest.li, whose brackets, colons and commas are not escaped.
func (p *Platform) query(ctx context.Context, a platform.Account, path, query string, out any) error {
	call := p.Call(http.MethodGet, path, a.Token.Access)
	call.URL += "?" + query
	return p.Send(ctx, call, out)
}

// Metrics implements platform.Publisher. Reactions and comments can be read with the right to publish, the others only
// with the right to figures.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.Published) (m platform.Metrics,
	err error) {
	var actions struct {
		Likes struct {
			Total int64 `json:"totalLikes"`
		} `json:"likesSummary"`
		Comments struct {
			Total int64 `json:"aggregatedTotalComments"`
		} `json:"commentsSummary"`
	}
	err = p.Get(ctx, a.Token.Access, "/rest/socialActions/"+url.PathEscape(post.ID), nil, &actions)
	if err != nil {
		return m, err
	}
	m.Likes, m.Comments = platform.Count(actions.Likes.Total), platform.Count(actions.Comments.Total)
	read := p.ofMember
	if strings.HasPrefix(a.ID, organization) {
		read = p.ofOrganization
	}
	others, err := read(ctx, a, post.ID)
	if err != nil && !platform.Untold(err) {
		return platform.Metrics{}, err
	}
	return m.Or(others), nil
}

// statistics are the counts of posts of an organisation.
type statistics struct {
	Range struct {
		Start int64 `json:"start"`
	} `json:"timeRange"`
	Total struct {
		Impressions *int64 `json:"impressionCount"`
		Unique      *int64 `json:"uniqueImpressionsCount"`
		Likes       *int64 `json:"likeCount"`
		Comments    *int64 `json:"commentCount"`
		Shares      *int64 `json:"shareCount"`
		Clicks      *int64 `json:"clickCount"`
	} `json:"totalShareStatistics"`
}

func (s statistics) metrics() platform.Metrics {
	return platform.Metrics{Impressions: s.Total.Impressions, Reach: s.Total.Unique, Likes: s.Total.Likes,
		Comments: s.Total.Comments, Shares: s.Total.Shares, Clicks: s.Total.Clicks}
}

// ugc begins the id of a post with a video. The ids of others are those of shares.
const ugc = "urn:li:ugcPost:"

// ofOrganization reads the statistics of a post of an organisation. A post that nobody has seen yet has none.
func (p *Platform) ofOrganization(ctx context.Context, a platform.Account, post string) (m platform.Metrics,
	err error) {
	if !slices.Contains(a.Token.Scopes, adminScope) {
		return m, nil
	}
	list := "shares"
	if strings.HasPrefix(post, ugc) {
		list = "ugcPosts"
	}
	var answer struct {
		Elements []statistics `json:"elements"`
	}
	err = p.query(ctx, a, "/rest/organizationalEntityShareStatistics", "q=organizationalEntity&organizationalEntity="+
		url.QueryEscape(a.ID)+"&"+list+"=List("+url.QueryEscape(post)+")", &answer)
	if err != nil || len(answer.Elements) == 0 {
		return m, err
	}
	return answer.Elements[0].metrics(), nil
}

// ofMember reads the statistics of a post of a member, one in a call.
func (p *Platform) ofMember(ctx context.Context, a platform.Account, post string) (m platform.Metrics, err error) {
	if !slices.Contains(a.Token.Scopes, memberScope) {
		return m, nil
	}
	kind := "share"
	if strings.HasPrefix(post, ugc) {
		kind = "ugc"
	}
	for _, one := range []struct {
		name string
		into **int64
	}{{"IMPRESSION", &m.Impressions}, {"MEMBERS_REACHED", &m.Reach}, {"RESHARE", &m.Shares}} {
		var answer struct {
			Elements []struct {
				Count *int64 `json:"count"`
			} `json:"elements"`
		}
		err := p.query(ctx, a, "/rest/memberCreatorPostAnalytics", "q=entity&entity=("+kind+":"+url.QueryEscape(post)+
			")&queryType="+one.name+"&aggregation=TOTAL", &answer)
		if err != nil {
			return m, err
		}
		if len(answer.Elements) > 0 {
			*one.into = answer.Elements[0].Count
		}
	}
	return m, nil
}

// mostDays bounds the days of one call.
const mostDays = 89

// Days implements platform.AccountReader. LinkedIn tells the days of an organisation up to two days ago, and the
// present number of its followers.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	if !strings.HasPrefix(a.ID, organization) || !slices.Contains(a.Token.Scopes, adminScope) {
		return nil, platform.Reject(platform.CodeMissingPermission, "LinkedIn tells figures of organisations only, "+
			"with the right "+adminScope+".")
	}
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	var size struct {
		Followers *int64 `json:"firstDegreeSize"`
	}
	err := p.Get(ctx, a.Token.Access, "/rest/networkSizes/"+url.PathEscape(a.ID),
		url.Values{"edgeType": {"COMPANY_FOLLOWED_BY_MEMBER"}}, &size)
	if err != nil {
		return nil, err
	}
	days.Last().Followers = size.Followers
	query := fmt.Sprintf("q=organizationalEntity&organizationalEntity=%s&timeIntervals=(timeRange:(start:%d,end:%d),"+
		"timeGranularityType:DAY)", url.QueryEscape(a.ID), days[0].Date.UnixMilli(), p.Client.Now().UnixMilli())
	var followers struct {
		Elements []struct {
			statistics
			Gains struct {
				Organic int64 `json:"organicFollowerGain"`
				Paid    int64 `json:"paidFollowerGain"`
			} `json:"followerGains"`
		} `json:"elements"`
	}
	if err := p.query(ctx, a, "/rest/organizationalEntityFollowerStatistics", query, &followers); err != nil {
		return nil, err
	}
	for _, e := range followers.Elements {
		if day := days.At(time.UnixMilli(e.Range.Start)); day != nil {
			day.Gained = platform.Count(e.Gains.Organic + e.Gains.Paid)
		}
	}
	var shares struct {
		Elements []statistics `json:"elements"`
	}
	if err := p.query(ctx, a, "/rest/organizationalEntityShareStatistics", query, &shares); err != nil {
		return nil, err
	}
	for _, e := range shares.Elements {
		if day := days.At(time.UnixMilli(e.Range.Start)); day != nil {
			day.Metrics = e.metrics()
		}
	}
	return days, nil
}
