#include "profile/sites.hpp"

#include <doctest/doctest.h>

#include <cstdio>

using namespace wherry::profile;

TEST_CASE("libraries are told apart by their file names") {
  CHECK(classify("/opt/mpi/lib/libmpi_mpifh.so.40", false) == Caller::fortran);
  CHECK(classify("libmpichfort.so.12", false) == Caller::fortran);
  CHECK(classify("/usr/lib/openmpi/mca_io_romio321.so", false) == Caller::library);
  CHECK(classify("/usr/lib/libmpi.so.40", true) == Caller::library);
  CHECK(classify("/home/mca_/solver", false) == Caller::program);
  CHECK(classify("", false) == Caller::program);
}

TEST_CASE("an address is found in its module, always at the same place") {
  Sites sites;
  const auto* here = reinterpret_cast<const void*>(&classify);
  const auto* there = reinterpret_cast<const void*>(&std::snprintf);
  const std::uint32_t a = sites.find(here);
  const std::uint32_t b = sites.find(there);
  CHECK(sites.find(here) == a);
  CHECK(sites.place(a).module != sites.place(b).module);
  const Module& module = sites.modules()[sites.place(a).module];
  CHECK(module.base + sites.place(a).offset == reinterpret_cast<std::uintptr_t>(here));
  CHECK(module.path.find("test_profile") != std::string::npos);
}

TEST_CASE("an address in no module is still a place") {
  Sites sites;
  const Place place = sites.place(sites.find(reinterpret_cast<const void*>(16)));
  CHECK(place.module == ~0U);
  CHECK(place.offset == 16);
}

TEST_CASE("code around an address is the part of its module that is run") {
  const auto* here = reinterpret_cast<const void*>(&classify);
  const AddressRange code = segment_around(here);
  CHECK(code.holds(here));
  CHECK(code.holds(reinterpret_cast<const void*>(&segment_around)));
  CHECK_FALSE(code.holds(reinterpret_cast<const void*>(&std::snprintf)));
  static int data = 0;
  CHECK_FALSE(code.holds(&data));
  const AddressRange none = segment_around(nullptr);
  CHECK(none.begin == none.end);
}

TEST_CASE("calls from the library that holds MPI are its own") {
  Sites sites(reinterpret_cast<const void*>(&std::snprintf));
  CHECK(sites.place(sites.find(reinterpret_cast<const void*>(&std::printf))).caller == Caller::library);
  CHECK(sites.place(sites.find(reinterpret_cast<const void*>(&classify))).caller == Caller::program);
}
