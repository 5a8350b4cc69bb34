package area_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/record/quota"
)

// An account begins so many chats in a day, in each mode.
func TestAnAccountBeginsSoManyChatsInADay(t *testing.T) {
	w := newArchitectWorld(t)
	for _, c := range []*apitest.Caller{w.Caller, w.Live()} {
		of := apitest.QuotaCase{DB: w.DB, Bound: quota.Chats, Kind: architect.Kind, Now: w.Now,
			Create: func(c *apitest.Caller, headers ...string) apitest.Answer {
				return c.Call(http.MethodPost, chats, object{}, headers...)
			},
		}
		of.Check(t, c)
		w.Clock.Add(24 * time.Hour)
		w.chat(c)
		of.Check(t, c)
	}
}
