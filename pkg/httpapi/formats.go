package httpapi

import (
	"strings"

	"github.com/content-automation/api/pkg/base/format"
)

func init() {
	format.Define("error-type", format.Format{
		Values: strings.Fields("invalid_request_error authentication_error payment_error permission_error " +
			"conflict_error rate_limit_error api_error")})
}
