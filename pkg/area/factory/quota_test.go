package factory_test

import (
	"net/http"
	"testing"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/quota"
)

// The sandbox has so many factories at most. One that is changed and then deleted makes room for one.
func TestTheSandboxHasSoManyFactories(t *testing.T) {
	w := newWorld(t)
	var last view
	for range quota.MostInSandbox {
		last = w.create()
	}
	refused := func() {
		t.Helper()
		w.Call(http.MethodPost, "/v1/factories", body()).Refused(t, http.StatusConflict, errs.InvalidState, "")
	}
	refused()
	w.Call(http.MethodPatch, "/v1/factories/"+last.ID, object{"name": "Other"}).Into(t, http.StatusOK, &last)
	refused()
	w.Call(http.MethodDelete, "/v1/factories/"+last.ID, nil).Into(t, http.StatusOK, &last)
	w.create()
	refused()
	w.faults.Reset()
	w.Live().Call(http.MethodPost, "/v1/factories", body()).Into(t, http.StatusCreated, &last)
	if ops := w.faults.Operations(); ops != "PutItem" {
		t.Errorf("a live factory took %s", ops)
	}
}
