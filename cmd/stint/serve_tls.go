package main

import (
	"crypto/tls"
	"log/slog"
	"net/netip"
	"strings"

	"github.com/stint-run/stint/server"
)

// tls is how the API is served over HTTPS; nil in plain HTTP.
func (f *serveFlags) tls(log *slog.Logger) (*tls.Config, error) {
	switch {
	case f.certFile == "" && f.keyFile == "":
		return nil, nil
	case f.keyFile == "":
		return nil, usagef("--tls-cert needs --tls-key (STINT_TLS_KEY)")
	case f.certFile == "":
		return nil, usagef("--tls-key needs --tls-cert (STINT_TLS_CERT)")
	}
	c, err := server.TLS(f.certFile, f.keyFile, log)
	if err != nil {
		return nil, usage(err)
	}
	return c, nil
}

// networks are the addresses and networks that a flag names.
func networks(names []string) (all []netip.Prefix, err error) {
	for _, name := range names {
		name = strings.TrimSpace(name)
		network, err := netip.ParsePrefix(name)
		if ip, wrong := netip.ParseAddr(name); wrong == nil {
			network, err = ip.Prefix(ip.BitLen())
		}
		if err != nil {
			return nil, usagef("--trusted-proxy (STINT_TRUSTED_PROXY) is addresses or networks such as 10.0.0.0/8, not %q", name)
		}
		all = append(all, network)
	}
	return all, nil
}
