package area_test

import (
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
)

func TestTurningAutoPublishOnNeedsTheScopeToPublish(t *testing.T) {
	w := newFactoryWorld(t)
	weak := w.Without(auth.ContentPublish)
	off, on := w.create(), w.create("auto_publish", true)
	before := storetest.Snapshot(t, w.DB)
	weak.Call(http.MethodPost, "/v1/factories", body("auto_publish", true)).Refused(t, 403, errs.InsufficientScope,
		"/auto_publish")
	weak.Call(http.MethodPatch, "/v1/factories/"+off.ID, object{"auto_publish": true}).Refused(t, 403,
		errs.InsufficientScope, "/auto_publish")
	weak.Call(http.MethodPatch, "/v1/factories/"+off.ID, object{"auto_publish": true, "tone": "dry"}).Refused(t, 403,
		errs.InsufficientScope, "/auto_publish")
	if storetest.Snapshot(t, w.DB) != before {
		t.Error("something was changed")
	}
	for path, patch := range map[string]object{
		"/v1/factories/" + off.ID: {"auto_publish": false, "tone": "dry"},
		"/v1/factories/" + on.ID:  {"auto_publish": true, "tone": "dry"}, // as it was
	} {
		var got view
		if weak.Call(http.MethodPatch, path, patch).Into(t, http.StatusOK, &got); got.Tone != "dry" ||
			got.AutoPublish != patch["auto_publish"] {
			t.Errorf("%+v", got)
		}
	}
	var got view
	if weak.Call(http.MethodPatch, "/v1/factories/"+on.ID, object{"auto_publish": nil}).Into(t, http.StatusOK,
		&got); got.AutoPublish {
		t.Errorf("%+v", got)
	}
	if w.Call(http.MethodPatch, "/v1/factories/"+off.ID, object{"auto_publish": true}).Into(t, http.StatusOK,
		&got); !got.AutoPublish {
		t.Errorf("%+v", got)
	}
}
