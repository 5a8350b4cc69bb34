package httpapi

import (
	"mime"
	"net/http"
	"strings"

	"github.com/content-automation/api/pkg/base/sheet"
)

const sheetType = "text/csv"

// acceptsSheet reports whether a caller asks for comma-separated values.
func acceptsSheet(h http.Header) bool {
	for _, kind := range strings.Split(strings.Join(h.Values("Accept"), ","), ",") {
		if name, parameters, err := mime.ParseMediaType(kind); err == nil && name == sheetType &&
			parameters["q"] != "0" {
			return true
		}
	}
	return false
}

// renderSheet returns a list as a file of comma-separated values.
func renderSheet[T any](op Op, all []T) (*answer, error) {
	body, err := sheet.Of(all)
	if err != nil {
		return nil, err
	}
	return &answer{Status: http.StatusOK, ContentType: sheetType + "; charset=utf-8",
		Disposition: `attachment; filename="` + op.Sheet + `"`, Body: body}, nil
}
