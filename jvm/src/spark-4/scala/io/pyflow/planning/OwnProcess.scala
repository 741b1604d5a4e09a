package io.pyflow.planning

import java.nio.charset.StandardCharsets.US_ASCII

/**
 * Libraries whose functions need a process of their own, as far as the pickled code of a function names
 * them: what they import in turn does not count, as xarray uses netCDF4 behind a lock of its own.
 */
private[planning] object OwnProcess {

  /** @param calls the names of functions, one of which the code has to name, too; empty for all code */
  private case class Library(name: String, reason: String, calls: Seq[String] = Nil)

  private val SecondJvm = "which starts a JVM: there can be no second one in an executor's process"
  private val OneSeed = "and seeds its random numbers, of which a process has one generator"

  private val OneReactor = "whose reactor runs once in a process"
  private val OneSession = "whose variables belong to the process"

  private val Libraries: Seq[Library] = Seq(
    Library("chdb", "which changes the working directory of its process"),
    Library("flint", "and sets its precision, which belongs to the process", Seq("ctx")),
    Library("imagej", SecondJvm),
    Library("javabridge", SecondJvm),
    Library("jaydebeapi", SecondJvm),
    Library("jnius", SecondJvm),
    Library("jpype", SecondJvm),
    Library("juliacall", OneSession),
    Library("keras", OneSeed, Seq("set_random_seed")),
    Library("konlpy", SecondJvm),
    Library("netCDF4", "whose C library is not thread-safe"),
    Library("py_mini_racer", "whose JavaScript engine crashes where several threads use it"),
    Library("pyserini", SecondJvm),
    Library("pyterrier", SecondJvm),
    Library("rpy2", OneSession),
    Library("scrapy", OneReactor, Seq("CrawlerProcess", "CrawlerRunner", "reactor")),
    Library("scyjava", SecondJvm),
    Library("tabula", SecondJvm),
    Library("tensorflow", OneSeed, Seq("set_random_seed", "set_seed")),
    Library("twisted", OneReactor, Seq("react", "reactor")),
    Library(
      "uvloop",
      "and starts processes, of which its event loops start one at a time",
      Seq("create_subprocess_exec", "create_subprocess_shell")))

  // pickle's SHORT_BINUNICODE: the opcode, the length of the string, the string.
  private val ShortString = 0x8c.toByte
  private val Header = 2

  /** The first reason in the pickled code of a function. */
  def reasonAgainst(command: Array[Byte]): Option[String] = {
    val strings = command.indices.filter(command(_) == ShortString)
    def names(text: String, orModuleOf: Boolean) = {
      val bytes = text.getBytes(US_ASCII)
      strings.exists(isString(bytes, command, _, orModuleOf))
    }
    Libraries.find { library =>
      names(library.name, orModuleOf = true) &&
      (library.calls.isEmpty || library.calls.exists(names(_, orModuleOf = false)))
    }
      .map(library => s"it uses ${library.name}, ${library.reason}")
  }

  /** Whether there is such a string, or the name of a module in a package of that name. */
  private def isString(
      text: Array[Byte],
      command: Array[Byte],
      at: Int,
      orModuleOf: Boolean): Boolean = {
    val start = at + Header
    val end = start + text.length
    end <= command.length &&
    java.util.Arrays.equals(command, start, end, text, 0, text.length) &&
    (command(at + 1) == text.length || orModuleOf && end < command.length && command(end) == '.')
  }
}
