package crms

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
)

// Serve serves the fakes of all CRMs, each below its name, with a product and a deal. GET /_notes lists the notes. POST
// /_deal?crm=amocrm&id=1&stage=142&hook=https://… moves a deal to a stage, or adds it, and sends the CRM's webhook to
// an address, twice.
func Serve(mux *http.ServeMux, now func() time.Time) {
	fakes := All(now)
	for name, f := range fakes {
		f.PutProduct(Product{ID: "1", SKU: "TRAIL-42", Name: "Trail running shoe", Price: "129.00", Currency: "EUR"})
		f.PutDeal(Deal{ID: "1", Name: "Shoes for the team", Pipeline: "7", Stage: "140", Amount: "1290",
			Currency: "EUR"})
		mux.Handle("/"+name+"/", http.StripPrefix("/"+name, f.Handler()))
	}
	mux.HandleFunc("GET /_notes", func(w http.ResponseWriter, _ *http.Request) {
		notes := map[string][]Note{}
		for name, f := range fakes {
			notes[name] = f.Notes()
		}
		control.JSON(w, http.StatusOK, notes)
	})
	mux.HandleFunc("POST /_deal", func(w http.ResponseWriter, r *http.Request) {
		f, ok := fakes[r.FormValue("crm")]
		if !ok || r.FormValue("id") == "" {
			http.Error(w, "want a CRM and the id of a deal", http.StatusBadRequest)
			return
		}
		d, ok := f.deal(r.FormValue("id"))
		if !ok {
			d = Deal{ID: r.FormValue("id"), Name: "Deal " + r.FormValue("id"), Pipeline: "7", Amount: "1290",
				Currency: "EUR"}
		}
		d.Stage = r.FormValue("stage")
		f.PutDeal(d)
		for range 2 {
			if err := send(f.Hook(r.FormValue("hook"), Change{Object: DealObject, ID: d.ID})); err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// send sends a webhook.
func send(r *http.Request) error {
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if resp.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("the webhook is answered with %s", resp.Status))
	}
	return errors.Join(err, resp.Body.Close())
}
